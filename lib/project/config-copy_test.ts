// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of a shell
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { BatError } from "../errors.ts";
import { configWithTelemetry } from "./config-copy.ts";

const SPANS = "/run's folder/spans-0/ü.jsonl";
const TELEMETRY = { output: [{ type: "local", file_path: SPANS }] };
const LINE = `telemetry: {output: [{type: local, file_path: "${SPANS}"}]}\n`;

const copy = (text: string) => configWithTelemetry(text, "config.yaml", SPANS);

describe("configWithTelemetry", () => {
  const same: [what: string, text: string, copy: string][] = [
    ["no telemetry", "a: 1 # one\n", `${LINE}a: 1 # one\n`],
    ["nothing", "", LINE],
    ["comments only", "# hello", `# hello\n${LINE}`],
    ["a block", "a: 1\ntelemetry:\n  output: []\nb: 2\n", `a: 1\n${LINE}b: 2\n`],
    ["other keys of it", "telemetry: {output: [], privacy: full} # x\nb: 2\n", `${LINE}b: 2\n`],
    ["one without value", "telemetry:\nb: 2\n", `${LINE}b: 2\n`],
    [
      "comments around it",
      "# A\na: 1\ntelemetry: # why\n  output:\n    - type: console # here\n  # end\n# about b\nb: 1 # B\n",
      `# A\na: 1\n${LINE}# about b\nb: 1 # B\n`,
    ],
    ["the end of a document", "---\na: 1\n...\n", `---\n${LINE}a: 1\n...\n`],
    ["a scalar cut at the end", "a: |\n  text", `${LINE}a: |\n  text`],
    ["variables", "port: {x: ${PORT}}\ny: $A\n", `${LINE}port: {x: ${"${PORT}"}}\ny: $A\n`],
    ["anchors elsewhere", "a: &a {x: 1}\ntelemetry: *a\nb: *a\n", `a: &a {x: 1}\n${LINE}b: *a\n`],
    ["indentation", "  a: 1\n  b: 2\n", `  ${LINE}  a: 1\n  b: 2\n`],
    ["windows line ends", "a: 1\r\ntelemetry:\r\n  output: []\r\n", `a: 1\r\n${LINE.trimEnd()}\n`],
  ];
  for (const [what, text, expected] of same) {
    it(`changes nothing else: ${what}`, () => {
      assert.equal(copy(text).trimEnd(), expected.trimEnd());
    });
  }

  const anew: [what: string, text: string, meaning: object][] = [
    ["a flow mapping", "{a: 1, telemetry: {output: []}}\n", { a: 1 }],
    ["an anchor in the old telemetry", "telemetry: &t {output: []}\nb: *t\n", { b: { output: [] } }],
    ["a key of its own kind", "? telemetry\n: {output: []}\nb: 3\n", { b: 3 }],
    ["two of them", "telemetry: {}\ntelemetry: {output: []}\nz: 1\n", { z: 1 }],
    ["variables in a flow mapping", "{a: ${PORT}, b: '$X'}", { a: "${PORT}", b: "$X" }],
  ];
  for (const [what, text, meaning] of anew) {
    it(`keeps the meaning where the text cannot be kept: ${what}`, () => {
      assert.deepEqual(parse(copy(text).replaceAll(/(\$\{\w+\})/g, '"$1"')), {
        ...meaning,
        telemetry: TELEMETRY,
      });
    });
  }

  it("overrides telemetry that a merge brings", () => {
    const text = "base: &b {telemetry: {output: []}, c: 1}\n<<: *b\n";
    assert.deepEqual(parse(copy(text), { merge: true }).telemetry, TELEMETRY);
  });

  it("refuses a path that the kit would read as a variable", () => {
    const refused = () => configWithTelemetry("a: 1\n", "config.yaml", "/home/$USER/x.jsonl");
    assert.throws(refused, { code: "config", message: /"\$"/ });
  });

  for (const [text, message] of [
    ["a: [", /^Cannot read config\.yaml as YAML/],
    ["a: *nobody", /^Cannot read config\.yaml as YAML/],
    ["- a\n", /Expected a mapping, found \["a"\]/],
    ["text", /Expected a mapping, found "text"/],
  ] as const) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => copy(text), { code: "config", message }));
  }

  it("keeps the rest of any mapping", () => {
    const key = fc.constantFrom("a", "b c", "telemetry", "yes", "1");
    const value = fc.jsonValue({ depthSize: "small" }) as fc.Arbitrary<unknown>;
    const flow = fc.boolean();
    fc.assert(
      fc.property(fc.dictionary(key, value), flow, (config, collection) => {
        const text = stringify(config, { version: "1.1", collectionStyle: collection ? "flow" : "any" });
        fc.pre(!text.includes("${"));
        const { telemetry, ...rest } = parse(copy(text), { version: "1.1" });
        const { telemetry: _, ...expected } = parse(text, { version: "1.1" });
        assert.deepEqual(rest, expected);
        assert.deepEqual(telemetry, TELEMETRY);
      }),
      { numRuns: 300 },
    );
  });

  it("gives a copy or a BatError for any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          copy(text);
        } catch (error) {
          assert.ok(error instanceof BatError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
