import assert from "node:assert/strict";
import { test } from "node:test";
import { given, model } from "../../test/_given.ts";
import check from "./max-tokens.ts";

test("tokens in and out are summed and held against the limit", () => {
  const steps = [model(10, 5), model(3, 2)];
  assert.deepEqual(check.run({ ...given(steps), expected: 20 }), { ok: true, reason: "tokens: 20" });
  assert.deepEqual(check.run({ ...given(steps), expected: 19 }), {
    ok: false,
    reason: "tokens: 20, expected at most 19",
  });
});
