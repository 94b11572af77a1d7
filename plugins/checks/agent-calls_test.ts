import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, given } from "../../test/_given.ts";
import check from "./agent-calls.ts";

test("calls of other agents are counted by name, case and all", () => {
  const steps = [agent("desk", [agent("desk")])];
  assert.deepEqual(check.run({ ...given(steps), expected: [{ agent: "desk", times: 2 }] }), [
    { ok: true, reason: "agent_call:desk: called 2×" },
  ]);
  assert.deepEqual(check.run({ ...given(steps), expected: [{ agent: "Desk", times: 1 }] }), [
    { ok: false, reason: "agent_call:Desk: called 0×, expected ≥1×" },
  ]);
});
