import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import fc from "fast-check";
import { makeVariable, setMakeVariables } from "./makefile-edit.ts";

function set(text: string, values: Record<string, string>): string {
  return setMakeVariables(text, "Makefile", values);
}

/** What make itself takes the variable for. */
function asMakeReads(text: string, name: string): string {
  const ran = spawnSync("make", ["-s", "--no-print-directory", "-f", "-", "__show"], {
    input: `${text}\n.PHONY: __show\n__show:\n\t@printf '[%s]' '$(${name})'\n`,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout;
}

describe("Variables of a Makefile", () => {
  const rules: [what: string, text: string, wanted: string][] = [
    ["each way to set one", "REPO = a\n", "REPO = b\n"],
    ["only if it is not set", "REPO ?= a\n", "REPO ?= b\n"],
    ["at once", "REPO := a\n", "REPO := b\n"],
    ["at once, as POSIX has it", "REPO ::= a\n", "REPO ::= b\n"],
    ["without blanks", "REPO=a\n", "REPO=b\n"],
    ["with many", "REPO\t:=   a  \n", "REPO\t:=   b\n"],
    ["without a value yet", "REPO ?=\n", "REPO ?= b\n"],
    ["at the end, without a line end", "X = 1\nREPO ?= a", "X = 1\nREPO ?= b"],
    ["CRLF", "REPO ?= a\r\nX = 1\r\n", "REPO ?= b\r\nX = 1\r\n"],
    ["a comment moves above it", "REPO ?= a # mine\n", "# mine\nREPO ?= b\n"],
    ["a # that is text", "REPO ?= a\\#x\n", "REPO ?= b\n"],
    ["a # that is none", "REPO ?= a\\\\# mine\n", "# mine\nREPO ?= b\n"],
    ["continued lines", "REPO ?= a \\\n  more\nX = 1\n", "REPO ?= b\nX = 1\n"],
    [
      "every one there is",
      "ifdef X\nREPO ?= a\nelse\nREPO ?= c\nendif\n",
      "ifdef X\nREPO ?= b\nelse\nREPO ?= b\nendif\n",
    ],
    [
      "others with a like name stay",
      "MYREPO = a\nREPO_X = a\nREPO = a\n",
      "MYREPO = a\nREPO_X = a\nREPO = b\n",
    ],
    [
      "uses stay",
      "REPO = a\nY = $(REPO)\nall:\n\techo REPO = x\n",
      "REPO = b\nY = $(REPO)\nall:\n\techo REPO = x\n",
    ],
    [
      "text of define stays",
      "define HELP\nREPO = a\nendef\nREPO = a\n",
      "define HELP\nREPO = a\nendef\nREPO = b\n",
    ],
    ["an indented one that does not count", "  REPO ?= c\nREPO = a\n", "  REPO ?= c\nREPO = b\n"],
    ["comments stay", "# REPO = old\nREPO = a\n", "# REPO = old\nREPO = b\n"],
  ];
  for (const [what, text, wanted] of rules) {
    test(what, () => {
      const after = set(text, { REPO: "b" });
      assert.equal(after, wanted);
      assert.equal(makeVariable(after, "REPO"), "b");
      assert.equal(set(after, { REPO: "b" }), after, "a second run changes nothing");
      if (!text.includes("\r")) assert.equal(asMakeReads(after, "REPO"), "[b]");
    });
  }

  const refusals: [what: string, text: string, message: RegExp][] = [
    ["none", "X = 1\n", /There is no line "REPO \?= …"/],
    ["none of its own in define", "define X\nREPO = a\nendef\n", /There is no line/],
    [
      "override",
      "REPO = a\noverride REPO = c\n",
      /line 2: REPO is set in a way that only you can change: "override REPO = c"/,
    ],
    ["export", "export REPO = a\n", /line 1: REPO is set in a way/],
    ["append", "REPO = a\nREPO += c\n", /line 2/],
    ["a shell's output", "REPO != echo a\n", /line 1/],
    ["define", "define REPO\na\nendef\n", /line 1/],
    ["indented in a condition", "REPO = a\nifdef X\n  REPO = c\nendif\n", /line 3/],
    ["indented and first", "ifdef X\n  REPO ?= c\nendif\nREPO ?= a\n", /line 2/],
    ["for one target", "REPO = a\nbuild: REPO = c\n", /line 2/],
  ];
  for (const [what, text, message] of refusals) {
    test(`refused: ${what}`, () => {
      assert.throws(() => set(text, { REPO: "b" }), { code: "config", message });
    });
  }

  test("every variable that cannot be set is told, and none is set", () => {
    assert.throws(
      () => set("REPO = a\n", { REPO: "b", X: "c", Y: "$(shell touch x)" }),
      (error: Error) => {
        assert.match(error.message, /Cannot edit Makefile, nothing was written/);
        assert.match(error.message, /There is no line "X \?= …"/);
        assert.match(error.message, /Y cannot be "\$\(shell touch x\)": only letters, digits/);
        return true;
      },
    );
  });

  const other = fc.constantFrom(
    "# REPO = not this",
    "",
    "X := $(REPO)-1 # é",
    "build: lint",
    "\tdocker build --tag $(REPO) . \\",
    "\t  --pull",
    "MY_REPO ?= z",
    "define NOTE",
    "REPO = text",
    "endef",
    `LONG = ${"word ".repeat(80)}`,
    "ифф = unicode",
  );
  const line = fc
    .tuple(fc.constantFrom("", " "), fc.constantFrom("?=", ":=", "::=", "="), fc.constantFrom("", " ", "\t "))
    .chain(([before, sign, after]) =>
      fc
        .constantFrom("", "old", "a/b", "old # note", "two words", "$(X)")
        .map((value) => `REPO${before}${sign}${after}${value}`),
    );
  test("only its own lines differ", () => {
    fc.assert(
      fc.property(
        fc.array(other, { maxLength: 8 }),
        line,
        fc.array(other, { maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        (above, own, below, crlf, open) => {
          // A line that is continued goes on with its next one, and define ends: else the text is another.
          const whole = (lines: string[]) =>
            lines.flatMap((text) =>
              text.endsWith("\\")
                ? [text, "\t  end"]
                : text === "define NOTE"
                  ? [text, "REPO = text", "endef"]
                  : /^(?:endef|REPO = text)$/.test(text)
                    ? []
                    : [text],
            );
          const [head, tail] = [whole(above), whole(below)];
          const eol = crlf && head.length + tail.length > 0 ? "\r\n" : "\n";
          const text = [...head, own, ...tail].join(eol) + (open ? "" : eol);
          const after = set(text, { REPO: "new/name" });
          const lines = after.split(eol);
          const comment = own.includes("#") ? ["# note"] : [];
          assert.deepEqual(lines.slice(0, head.length), head);
          assert.deepEqual(lines.slice(head.length, head.length + comment.length), comment);
          assert.match(lines[head.length + comment.length]!, /^REPO ?(?:\?=|::=|:=|=)[ \t]*new\/name$/);
          assert.deepEqual(lines.slice(head.length + comment.length + 1), [...tail, ...(open ? [] : [""])]);
          assert.equal(set(after, { REPO: "new/name" }), after);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
