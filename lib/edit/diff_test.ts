import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { unifiedDiff } from "./diff.ts";

const folder = mkdtempSync(join(tmpdir(), "bat-diff-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What git makes of a text and a difference. */
function patched(before: string, difference: string): string {
  writeFileSync(join(folder, "x"), before);
  const options = { cwd: folder, input: difference, encoding: "utf8" as const };
  const ran = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], options);
  assert.equal(ran.status, 0, `${ran.stderr}\n${difference}`);
  return readFileSync(join(folder, "x"), "utf8");
}

describe("Differences", () => {
  test("equal texts have none", () => {
    assert.equal(unifiedDiff("x", "a\n", "a\n"), "");
  });

  test("only what is around a change is shown", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    assert.equal(
      unifiedDiff("x", before, before.replace("5", "five")),
      "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
  });

  test("git applies them", () => {
    const text = fc
      .tuple(fc.array(fc.constantFrom("a", "b", "", "é  ", "c\r"), { maxLength: 12 }), fc.boolean())
      .map(([lines, open]) => lines.map((line) => `${line}\n`).join("") + (open ? "end" : ""));
    fc.assert(
      fc.property(text, text, (before, wanted) => {
        fc.pre(before !== wanted && before !== "" && wanted !== "");
        assert.equal(patched(before, unifiedDiff("x", before, wanted)), wanted);
      }),
      { numRuns: 40 },
    );
  });

  test("a text that is all another is one block", () => {
    const lines = (word: string) => Array.from({ length: 3_000 }, (_, i) => `${word}${i}\n`).join("");
    const difference = unifiedDiff("x", lines("a"), `${lines("b")}open`);
    assert.equal(difference.match(/^@@/gm)?.length, 1);
    assert.equal(patched(lines("a"), difference), `${lines("b")}open`);
  });
});
