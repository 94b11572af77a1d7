import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { printable } from "./printable.ts";

test("what a terminal would obey is taken out, words stay", () => {
  assert.equal(printable("plain – ünïcode 漢字 👍"), "plain – ünïcode 漢字 👍");
  assert.equal(printable("\u001b[31mred\u001b[0m"), "red");
  assert.equal(printable("a\n\n b\tc\r\nd"), "a b c d");
  assert.equal(printable("bell\u0007 back\u0008 turned\u202e"), "bell\ufffd back\ufffd turned\ufffd");
});

test("whatever comes, no control character is left and it is one line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(printable(text), /[\p{Cc}\n\u2028\u2029]/u);
    }),
  );
});
