import assert from "node:assert/strict";
import { test } from "node:test";
import { runResult, Terminal, worldWith } from "../../test/_results.ts";
import type { World } from "../cli/command.ts";
import { observerFor } from "./observer-for.ts";
import type { FinishedAttempt } from "./progress.ts";

const run = {
  run: "r1",
  directory: "/work/r1",
  agent: "desk",
  models: ["a:b"],
  tasks: 2,
  k: 2,
  planned: 4,
  done: 0,
  concurrency: 2,
};

function finished(more: Partial<FinishedAttempt> = {}): FinishedAttempt {
  const id = { model: "a:b", task: "order", attempt: 0 };
  const rest = { outcome: "carried-out", passed: true, reason: "", episode: "e" } as const;
  return { ...id, ...rest, wall_ms: 12, tokens: 5, done: 1, planned: 4, ...more };
}

function textOf({ stderr }: World): string {
  return (stderr as Terminal).screen.text;
}

test("where there is no terminal, one line tells of one finished attempt", () => {
  const world = worldWith();
  using observer = observerFor(world, { json: false });
  observer.runStarted({ ...run, done: 1 });
  observer.modelStarted({ model: "a:b", planned: 4, done: 1, log: "agent-0.log" });
  observer.modelReady({ model: "a:b", url: "http://127.0.0.1:1", start_ms: 1_234 });
  observer.attemptStarted(finished());
  observer.attemptFinished(finished());
  observer.attemptFinished(finished({ attempt: 1, passed: false, reason: "a\nb\u001b[2J", done: 2 }));
  observer.agentRestarted({ model: "a:b", exit: "it ended with code 7", restarts: 1, limit: 3 });
  observer.attemptFinished(finished({ outcome: "not-carried-out", passed: false, reason: "died", done: 3 }));
  observer.runFinished(runResult([]));
  assert.equal(
    textOf(world),
    `Run r1: desk, 1 model × 2 tasks × 2 = 4 attempts, 1 of them done before, 2 at once
a:b: starting the agent
a:b: ready at http://127.0.0.1:1 after 1.2 s
[1/4] order try 0 passed in 12 ms, 5 tokens
[2/4] order try 1 failed in 12 ms, 5 tokens: a b
Agent died: it ended with code 7; started anew (1 of 3)
[3/4] order try 0 not carried out in 12 ms, 5 tokens: died
`,
  );
});

test("with several models each attempt names its own", () => {
  const world = worldWith();
  using observer = observerFor(world, { json: false });
  observer.runStarted({ ...run, models: ["a:b", "c:d"] });
  observer.attemptFinished(finished({ model: "c:d" }));
  assert.match(textOf(world), /order try 0 of c:d passed/);
});

test("for JSON only what a person must know is told", () => {
  const world = worldWith();
  using observer = observerFor(world, { json: true });
  observer.runStarted(run);
  observer.attemptFinished(finished());
  observer.warning("No dispatcher names desk");
  observer.modelFailed({ model: "a:b", message: "Port 9 is taken", log: null });
  assert.equal(textOf(world), "Warning: No dispatcher names desk\nModel a:b failed: Port 9 is taken\n");
});

test("an interrupt is answered at once; after the run nobody listens for one", () => {
  const controller = new AbortController();
  const world = worldWith({ signal: controller.signal });
  const observer = observerFor(world, { json: false });
  observer.runStarted(run);
  controller.abort();
  assert.match(textOf(world), /Stopping the agent; what is finished is kept/);
  const later = new AbortController();
  const quiet = worldWith({ signal: later.signal });
  observerFor(quiet, { json: false }).runFinished(runResult([]));
  later.abort();
  assert.equal(textOf(quiet), "");
});

test("a terminal that cannot redraw gets lines", () => {
  const terminal = new Terminal(80, 24);
  const world = worldWith({ terminal, env: { TERM: "dumb" } });
  using observer = observerFor(world, { json: false });
  observer.runStarted(run);
  observer.attemptFinished(finished());
  assert.match(terminal.screen.text, /\n\[1\/4\] order try 0 passed/);
});
