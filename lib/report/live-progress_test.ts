import assert from "node:assert/strict";
import { test } from "node:test";
import { runResult, Terminal, worldWith } from "../../test/_results.ts";
import { observerFor } from "./observer-for.ts";

const run = {
  run: "r1",
  directory: "/work/r1",
  agent: "desk",
  models: ["a:b", "c:d"],
  tasks: 50,
  k: 2,
  planned: 200,
  done: 0,
  concurrency: 9,
};
const carriedOut = { outcome: "carried-out", wall_ms: 5, tokens: 1, episode: "e", planned: 200 } as const;

function live(columns: number, rows: number) {
  const terminal = new Terminal(columns, rows);
  const controller = new AbortController();
  const world = worldWith({ terminal, signal: controller.signal, color: true });
  return { terminal, controller, observer: observerFor(world, { json: false }) };
}

test("the block shows how far each model is, what runs and what failed last", async () => {
  const { terminal, observer } = live(100, 30);
  using _ = observer;
  observer.runStarted(run);
  observer.modelStarted({ model: "a:b", planned: 100, done: 0, log: "l" });
  await terminal.shows(/░ 0\/100 a:b {2}starting the agent, \d+ ms/);
  observer.modelReady({ model: "a:b", url: "u", start_ms: 1 });
  for (let i = 0; i < 9; i += 1) observer.attemptStarted({ model: "a:b", task: `t${i}`, attempt: 0 });
  for (let i = 0; i < 5; i += 1) {
    const passed = i === 0;
    const id = { model: "a:b", task: `t${i}`, attempt: 0 };
    observer.attemptFinished({ ...carriedOut, ...id, passed, reason: `reason ${i}`, done: i + 1 });
  }
  await terminal.shows(/5 of 200 attempts after/);
  assert.match(terminal.screen.text, /█░+ 5\/100 a:b {2}1 passed, 4 failed\n/);
  assert.match(terminal.screen.text, /\n {2}t5 try 0 … \d+ ms\n/);
  assert.match(terminal.screen.text, /\n {2}\[5\/200\] t4 try 0 failed in 5 ms, 1 tokens: reason 4\n/);
  assert.doesNotMatch(terminal.screen.text, /reason 1/);
  observer.modelFailed({ model: "a:b", message: "the agent died", log: null });
  observer.modelStarted({ model: "c:d", planned: 100, done: 40, log: "l" });
  await terminal.shows(/40\/100 c:d {2}starting/);
  assert.match(terminal.screen.text, /a:b {2}1 passed, 4 failed, could not go on/);
  observer.runFinished(runResult([]));
  // What is to stay was written above; the block itself is gone without a trace.
  assert.equal(
    terminal.screen.text,
    "Run r1: desk, 2 models × 50 tasks × 2 = 200 attempts, 9 at once\na:b: failed: the agent died\n",
  );
  assert.deepEqual(terminal.screen.unknown, []);
});

test("a block never has more lines than a low terminal, nor lines longer than a narrow one", async () => {
  const { terminal, observer } = live(30, 5);
  observer.runStarted(run);
  observer.modelStarted({ model: "a:b", planned: 100, done: 0, log: "l" });
  observer.modelReady({ model: "a:b", url: "u", start_ms: 1 });
  for (let i = 0; i < 50; i += 1)
    observer.attemptStarted({ model: "a:b", task: `a long name of a task ${i}`, attempt: 0 });
  await terminal.shows(/0 of 200 attempts/);
  const before = terminal.writes;
  while (terminal.writes < before + 3) await new Promise((resolve) => setTimeout(resolve, 20));
  const lines = terminal.screen.text.split("\n");
  assert.equal(lines.filter((line) => /attempts after/.test(line)).length, 1);
  assert.equal(lines.filter((line) => /░/.test(line)).length, 1);
  observer.runFinished(runResult([]));
  assert.doesNotMatch(terminal.screen.text, /░|…/);
});

test("after a change of the terminal's width nothing is left of the old block", async () => {
  const { terminal, observer } = live(100, 30);
  observer.runStarted(run);
  observer.modelStarted({ model: "a:b", planned: 100, done: 0, log: "l" });
  await terminal.shows(/starting the agent/);
  terminal.screen.reflow(40);
  const before = terminal.writes;
  while (terminal.writes < before + 2) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(terminal.screen.text.match(/░ 0\/100/g)?.length, 1);
  observer.runFinished(runResult([]));
  assert.doesNotMatch(terminal.screen.text, /░/);
});

test("a run that breaks off leaves no block and no timer behind", async () => {
  const { terminal, observer, controller } = live(80, 24);
  observer.runStarted(run);
  await terminal.shows(/0 of 200/);
  controller.abort();
  observer[Symbol.dispose]();
  const { writes } = terminal;
  assert.match(terminal.screen.text, /at once\nStopping the agent.*\n$/);
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.equal(terminal.writes, writes);
});

test("a thousand attempts a second cost ten drawings a second", async () => {
  const { terminal, observer } = live(80, 24);
  observer.runStarted(run);
  observer.modelStarted({ model: "a:b", planned: 100_000, done: 0, log: "l" });
  const begun = performance.now();
  const { cpuUsage } = process;
  const before = cpuUsage();
  for (let i = 0; i < 1_000; i += 1) {
    const id = { model: "a:b", task: `t${i % 50}`, attempt: i };
    observer.attemptStarted(id);
    observer.attemptFinished({ ...carriedOut, ...id, passed: i % 2 === 0, reason: "r", done: i });
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const seconds = (performance.now() - begun) / 1_000;
  const { user } = cpuUsage(before);
  observer.runFinished(runResult([]));
  assert.ok(terminal.writes <= 4 + seconds * 11, `${terminal.writes} writes in ${seconds} s`);
  assert.ok(user / 1e6 < seconds / 2, `${user / 1e6} s of work in ${seconds} s`);
});
