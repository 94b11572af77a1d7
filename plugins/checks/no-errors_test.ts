import assert from "node:assert/strict";
import { test } from "node:test";
import { given, tool } from "../../test/_given.ts";
import check from "./no-errors.ts";

test("failed steps are told, the first three of them, nested ones too", () => {
  const steps = [tool("a", "1", [tool("b", "2")]), tool("c", "3"), tool("d", "4")];
  assert.deepEqual(check.run({ ...given(steps), expected: true }), {
    ok: false,
    reason: "errors: 4 failed steps -- tool a: 1; tool b: 2; tool c: 3 (+1 more)",
  });
  assert.deepEqual(check.run({ ...given([tool("a")]), expected: true }), {
    ok: true,
    reason: "errors: none",
  });
});

test("false asks for nothing", () => {
  assert.equal(check.applies?.(false), false);
});
