import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, given, tool } from "../../test/_given.ts";
import check from "./tool-calls.ts";

const run = (
  steps: Parameters<typeof given>[0],
  name: string,
  args: Record<string, unknown> = {},
  times = 1,
) => check.run({ ...given(steps), expected: [{ name, args_subset: args, times }] });

test("calls are counted by name and part of their arguments, nested ones and called agents' too", () => {
  const steps = [tool("t", null, [tool("t")]), agent("a", [tool("t")])];
  assert.deepEqual(run(steps, "t", {}, 3), [{ ok: true, reason: "tool_call:t: called 3×" }]);
  assert.deepEqual(run(steps, "t", { item: "nuts" }), [
    { ok: false, reason: "tool_call:t: called 0×, expected ≥1×" },
  ]);
  assert.deepEqual(run([], "t", {}, 0), [{ ok: true, reason: "tool_call:t: called 0×" }]);
});

test("a call whose arguments were not recorded counts where none are asked for", () => {
  const unknown = { ...tool("t"), args: null };
  assert.deepEqual(run([unknown], "t"), [{ ok: true, reason: "tool_call:t: called 1×" }]);
  assert.deepEqual(run([unknown], "t", { item: "nuts" }), [
    { ok: false, reason: "tool_call:t: called 0×, expected ≥1×" },
  ]);
});
