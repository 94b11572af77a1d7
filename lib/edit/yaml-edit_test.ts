import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { Written, YamlText } from "./yaml-edit.ts";

function edited(text: string, edit: (yaml: YamlText) => void): string {
  const yaml = new YamlText(text, { file: "x.yaml" });
  edit(yaml);
  return yaml.toString();
}

type Rule = [what: string, before: string, edit: (yaml: YamlText) => void, after: string];

function check(rules: readonly Rule[]): void {
  for (const [what, before, edit, after] of rules)
    test(what, () => assert.equal(edited(before, edit), after));
}

describe("Setting a value", () => {
  const set = (path: (string | number)[], value: unknown) => (yaml: YamlText) => yaml.set(path, value);
  check([
    ["keeps the comment behind it", "a: 1   # why\nb: 2\n", set(["a"], 3), "a: 3   # why\nb: 2\n"],
    ["keeps gaps and other quotes", "a:    'x'\nb: \"y\"\n", set(["a"], "z"), 'a:    z\nb: "y"\n'],
    [
      "takes the commented-out line",
      "m:\n  # k: old   # why\n  z: 1\n",
      set(["m", "k"], "new"),
      "m:\n  k: new   # why\n  z: 1\n",
    ],
    [
      "takes it in a list's item too",
      "l:\n  - a: 1\n    # k: old\n    z: 1\n",
      set(["l", 0, "k"], 2),
      "l:\n  - a: 1\n    k: 2\n    z: 1\n",
    ],
    [
      "takes no prose for a key",
      "m:\n  # k: the name of it\n  z: 1\n",
      set(["m", "k"], 1),
      "m:\n  # k: the name of it\n  z: 1\n  k: 1\n",
    ],
    [
      "takes no line of another depth",
      "m:\n  z:\n    # k: 1\n    y: 1\n",
      set(["m", "k"], 2),
      "m:\n  z:\n    # k: 1\n    y: 1\n  k: 2\n",
    ],
    [
      "adds at the section's end, behind its comments",
      "m:\n  a: 1\n  # tail\n\n# next\nn: 1\n",
      set(["m", "k"], 2),
      "m:\n  a: 1\n  # tail\n  k: 2\n\n# next\nn: 1\n",
    ],
    ["makes a section that is missing", "a: 1\n", set(["m", "k"], 2), "a: 1\nm:\n  k: 2\n"],
    ["makes one as deep as others are", "a:\n    b: 1\n", set(["m", "k"], 2), "a:\n    b: 1\nm:\n    k: 2\n"],
    ["fills an empty one", "m:\na: 1\n", set(["m", "k"], 2), "m:\n  k: 2\na: 1\n"],
    ["fills an empty file", "", set(["k"], 2), "k: 2\n"],
    ["fills a file of comments", "# a\n---\n# b\n", set(["k"], 2), "# a\n---\n# b\nk: 2\n"],
    ["goes before the end marker", "a: 1\n...\n", set(["k"], 2), "a: 1\nk: 2\n...\n"],
    ["goes behind a last line without an end", "a: 1", set(["k"], 2), "a: 1\nk: 2"],
    ["keeps CRLF", "a: 1\r\n", set(["k"], 2), "a: 1\r\nk: 2\r\n"],
    ["keeps a byte order mark", "\ufeffa: 1\n", set(["a"], 2), "\ufeffa: 2\n"],
    ["in flow style", "m: {a: 1, b: 2} # c\n", set(["m", "a"], "x, y"), 'm: {a: "x, y", b: 2} # c\n'],
    ["into flow style", "m: {a: 1}\n", set(["m", "k"], 2), "m: {a: 1, k: 2}\n"],
    [
      "into flow style on many lines",
      "m: {\n  a: 1, # c\n}\n",
      set(["m", "k"], 2),
      "m: {\n  a: 1, # c\n  k: 2,\n}\n",
    ],
    ["in place of a block scalar", "a: |\n  x\n  y\nb: 1\n", set(["a"], "z"), "a: z\nb: 1\n"],
    ["in place of text on many lines", 'a: "x\n  y"\nb: 1\n', set(["a"], "z"), "a: z\nb: 1\n"],
    ["in place of a mapping", "a:\n  b: 1\nc: 1\n", set(["a"], "z"), "a: z\nc: 1\n"],
    [
      "a mapping in place of a text",
      "a: x # c\nc: 1\n",
      set(["a"], { b: [1] }),
      "a: # c\n  b:\n    - 1\nc: 1\n",
    ],
    [
      "a mapping in place of an item, as far in as it stood",
      "l:\n-   x\n-   y\n",
      set(["l", 0], { a: 1, b: 2 }),
      "l:\n-   a: 1\n    b: 2\n-   y\n",
    ],
    ["an anchor keeps its name", "a: &x 1\nb: 2\n", set(["a"], 3), "a: &x 3\nb: 2\n"],
    ["an alias elsewhere keeps its meaning", "a: &x 1\nb: *x\n", set(["a"], 3), "a: &x 3\nb: 1\n"],
    [
      "an alias is never set through",
      "a: &x {k: 1}\nb: *x\n",
      set(["b", "k"], 3),
      "a: &x {k: 1}\nb:\n  <<: *x\n  k: 3\n",
    ],
    [
      "an anchor that goes leaves its content",
      "a: &x {k: 1}\nb: *x\n",
      set(["a"], { z: 1 }),
      "a: &x {z: 1}\nb:\n  k: 1\n",
    ],
    [
      "a merged key gets a line of its own",
      "a: &x\n  k: 1\nb:\n  <<: *x\n",
      set(["b", "k"], 2),
      "a: &x\n  k: 1\nb:\n  <<: *x\n  k: 2\n",
    ],
    [
      "an anchor of an item stays the item's",
      "l:\n  - &x 1\n",
      set(["l", 0], { p: 1 }),
      "l:\n  - &x\n    p: 1\n",
    ],
    [
      "an item that is named anew stays where it is",
      "l:\n  # first\n  - name: a # c\n    k: 1\n",
      set(["l", 0, "name"], "b"),
      "l:\n  # first\n  - name: b # c\n    k: 1\n",
    ],
    [
      "with comments of its own",
      "a: 1\n",
      set(["k"], new Written({ z: 1 }, { above: ["Why"], below: ["more: 1"] })),
      "a: 1\n# Why\nk:\n  z: 1\n  # more: 1\n",
    ],
    ["written as it is said", "a: 1\n", set(["a"], new Written("y", { text: "y" })), "a: y\n"],
  ]);

  test("a text that some reader takes for something else is quoted, also where it stood without quotes", () => {
    assert.equal(edited("a: yes\nb: yes\n", set(["a"], "yes")), 'a: "yes"\nb: yes\n');
    for (const text of [
      "no",
      "1.0",
      "1e3",
      "0o7",
      "12:30",
      "null",
      "~",
      "",
      " x",
      "a: b",
      "a #b",
      "- a",
      "<<",
      "=",
      "\u2028",
    ]) {
      const after = edited("a: 1\n", set(["a"], text));
      for (const version of ["1.1", "1.2"] as const) assert.deepEqual(parse(after, { version }), { a: text });
    }
  });
});

describe("Lists", () => {
  check([
    [
      "an item comes behind the last one's comment",
      "l:\n  - a # c\n  # tail\nk: 1\n",
      (y) => y.append(["l"], "b"),
      "l:\n  - a # c\n  - b\n  # tail\nk: 1\n",
    ],
    [
      "at the key's own column",
      "l:\n- a\n# next\nk: 1\n",
      (y) => y.append(["l"], "b"),
      "l:\n- a\n- b\n# next\nk: 1\n",
    ],
    ["in flow style", "l: [a] # c\n", (y) => y.append(["l"], "b"), "l: [a, b] # c\n"],
    ["into an empty one", "l: []\n", (y) => y.append(["l"], "b"), "l:\n  - b\n"],
    ["into one that is missing", "k: 1\n", (y) => y.append(["l"], "b"), "k: 1\nl:\n  - b\n"],
    ["an item goes with its comment", "l:\n  - a # c\n  - b\n", (y) => y.delete(["l", 0]), "l:\n  - b\n"],
    ["the last one leaves an empty list", "l:\n  - a\nk: 1\n", (y) => y.delete(["l", 0]), "l: []\nk: 1\n"],
    [
      "items are known by their names",
      "l:\n  # about b\n  - name: b # c\n    n: 1\n  - name: z\n",
      (y) => y.update({ l: [{ name: "a" }, { name: "b", n: 2 }] }),
      "l:\n  - name: a\n  # about b\n  - name: b # c\n    n: 2\n".replace(
        "  - name: a\n  # about b\n",
        "  # about b\n  - name: a\n",
      ),
    ],
  ]);
});

describe("New keys in a mapping and behind it", () => {
  check([
    [
      "come in their order, below the comments further in",
      "m:\n  a: 1\n   # deep\nb: 1\n",
      (y) => y.update({ m: { a: 1, k: 2 }, z: 3, b: 1 }),
      "m:\n  a: 1\n   # deep\n  k: 2\nz: 3\nb: 1\n",
    ],
  ]);
});

describe("Deleting", () => {
  check([
    [
      "takes the comment behind it, not that above",
      "# a\na: 1 # c\nb: 2\n",
      (y) => y.delete(["a"]),
      "# a\nb: 2\n",
    ],
    ["a section with all that is in it", "m:\n  # in\n  a: 1\nb: 2\n", (y) => y.delete(["m"]), "b: 2\n"],
    [
      "the last key leaves an empty mapping",
      "m:\n  a: 1\nb: 2\n",
      (y) => y.delete(["m", "a"]),
      "m: {}\nb: 2\n",
    ],
    ["the file's last key too", "# c\na: 1\n", (y) => y.delete(["a"]), "# c\n{}\n"],
    ["behind a dash", "l:\n  - a: 1\n    b: 2\n", (y) => y.delete(["l", 0, "a"]), "l:\n  - b: 2\n"],
    [
      "behind a dash, with a comment next",
      "l:\n  - a: 1 # x\n    # about b\n    b: 2\n",
      (y) => y.delete(["l", 0, "a"]),
      "l:\n  - \n    # about b\n    b: 2\n",
    ],
    ["in flow style", "m: {a: 1, b: 2, c: 3}\n", (y) => y.delete(["m", "b"]), "m: {a: 1, c: 3}\n"],
    ["in flow style, the last one", "m: {a: 1, b: 2}\n", (y) => y.delete(["m", "b"]), "m: {a: 1}\n"],
    [
      "in flow style on lines of its own, others keep their comments",
      "m: {\n  a: 1, # about a\n  b: 2 # about b\n}\n",
      (y) => y.delete(["m", "b"]),
      "m: {\n  a: 1, # about a\n}\n",
    ],
    [
      "in flow style, a key for another, with comments",
      "m: {\n  a: 1, # about a\n  b: 2\n}\n",
      (y) => {
        y.delete(["m", "b"]);
        y.set(["m", "c"], 3);
      },
      "m: {\n  a: 1, c: 3, # about a\n}\n",
    ],
    [
      "in flow style, a key for another",
      "m: {a: 1, b: 2}\n",
      (y) => {
        y.delete(["m", "b"]);
        y.set(["m", "c"], 3);
      },
      "m: {a: 1, c: 3}\n",
    ],
  ]);

  test("says whether there was one", () => {
    const yaml = new YamlText("a: 1\n", { file: "x.yaml" });
    assert.deepEqual([yaml.delete(["b"]), yaml.delete(["a", "b"]), yaml.delete(["a"])], [false, false, true]);
  });
});

describe("What cannot be edited is told with its place", () => {
  const refusals: [what: string, text: string, edit: (yaml: YamlText) => void, message: RegExp][] = [
    ["no YAML", "a: [1\nb: 2\n", () => {}, /Cannot edit x\.yaml, it is no valid YAML:\n {2}x\.yaml line 2/],
    ["a key twice", "a: 1\na: 2\n", () => {}, /x\.yaml line 2, column 1: Map keys must be unique/],
    ["two documents", "a: 1\n---\nb: 2\n", () => {}, /line 2, column 1: A second document begins here/],
    ["an anchor that is not there", "a: *x\n", () => {}, /Unresolved alias|There is no anchor "&x"/],
    ["an alias in itself", "a: &x [*x]\n", () => {}, /An alias stands inside what it stands for/],
    [
      "a text where a mapping is wanted",
      "m: x\n",
      (y) => y.set(["m", "k"], 1),
      /x\.yaml line 1, column 4: Expected "m" to be a mapping/,
    ],
    [
      "a list where a mapping is wanted",
      "m: [1]\n",
      (y) => y.set(["m", "k"], 1),
      /Expected "m" to be a mapping/,
    ],
    [
      "an item that is not there",
      "l: [1]\n",
      (y) => y.set(["l", 1], 1),
      /Expected "l" to be a list with that item/,
    ],
    [
      "a merged key left out",
      "a: &x {k: 1}\nb:\n  <<: *x\n  k: 2\n",
      (y) => y.delete(["b", "k"]),
      /line 3, column 3: "k" comes in through "<<"/,
    ],
    [
      "what is merged elsewhere is gone",
      "a: &x {k: 1}\nb:\n  <<: *x\n",
      (y) => y.delete(["a"]),
      /line 3, column 7: What "<<: \*x" brings in here would be gone/,
    ],
  ];
  for (const [what, text, edit, message] of refusals)
    test(what, () => assert.throws(() => edited(text, edit), { code: "config", message }));
});
