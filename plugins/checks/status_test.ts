import assert from "node:assert/strict";
import { test } from "node:test";
import { given } from "../../test/_given.ts";
import check from "./status.ts";

test("the status is the expected one, or both are told", () => {
  assert.deepEqual(check.run({ ...given(), expected: "completed" }), {
    ok: true,
    reason: "status: 'completed'",
  });
  assert.deepEqual(check.run({ ...given([], { status: "error" }), expected: "completed" }), {
    ok: false,
    reason: "status: got 'error', expected 'completed'",
  });
});

test("completed is expected where nothing is said, and null asks for nothing", () => {
  assert.equal(check.default, "completed");
  assert.equal(check.applies?.(null), false);
});
