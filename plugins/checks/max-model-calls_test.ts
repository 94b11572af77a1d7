import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, given, model } from "../../test/_given.ts";
import check from "./max-model-calls.ts";

test("model calls are counted, called agents' too, and held against the limit", () => {
  const steps = [model(1, 1), agent("a", [model(1, 1)])];
  assert.deepEqual(check.run({ ...given(steps), expected: 2 }), { ok: true, reason: "model calls: 2" });
  assert.deepEqual(check.run({ ...given(steps), expected: 1 }), {
    ok: false,
    reason: "model calls: 2, expected at most 1",
  });
});
