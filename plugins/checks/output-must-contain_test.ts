import assert from "node:assert/strict";
import { test } from "node:test";
import { given } from "../../test/_given.ts";
import check from "./output-must-contain.ts";

const run = (output: string, expected: string[]) => check.run({ ...given([], { output }), expected });

test("each phrase is looked for letter by letter; several are numbered", () => {
  assert.deepEqual(run("Hello 🎉", ["🎉"]), [{ ok: true, reason: "output: contains '🎉'" }]);
  assert.deepEqual(run("Hello", ["hello", ""]), [
    { ok: false, reason: "output[0]: missing 'hello'" },
    { ok: true, reason: "output[1]: contains ''" },
  ]);
});

test("no phrases ask for nothing", () => {
  assert.equal(check.applies?.([]), false);
});
