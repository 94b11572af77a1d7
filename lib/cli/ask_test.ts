import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { ask } from "./ask.ts";
import type { World } from "./command.ts";

function world(input: string, terminal: boolean) {
  const stdin = new PassThrough();
  stdin.end(input);
  const isTerminal = { stdin: terminal, stdout: terminal, stderr: terminal };
  return {
    stdin,
    stderr: new PassThrough(),
    isTerminal,
    signal: new AbortController().signal,
  } as unknown as World;
}

const QUESTIONS = { name: { ask: "Name" }, model: { ask: "Model", otherwise: "m" } };

test("asks until there is an answer, and takes what is usual for none", async () => {
  assert.deepEqual(await ask(QUESTIONS, world("\n desk \n\n", true)), { name: "desk", model: "m" });
});

test("an end of the input is told", async () => {
  await assert.rejects(ask(QUESTIONS, world("desk\n", true)), /input ended/);
});

test("asks nothing where there is no terminal", async () => {
  assert.deepEqual(await ask(QUESTIONS, world("desk\n", false)), {});
});
