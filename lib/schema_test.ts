import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { check, pathText } from "./schema.ts";
import { didYouMean, nearest } from "./text/nearest.ts";

const schema = v.object({
  name: v.string(),
  list: v.optional(v.array(v.object({ count: v.pipe(v.number(), v.integer(), v.minValue(1)) }))),
  either: v.optional(v.union([v.object({ url: v.string() }), v.string()])),
  free: v.optional(v.record(v.string(), v.unknown())),
});

function problems(value: unknown): string[] {
  const checked = check(schema, value);
  return checked.ok ? [] : checked.problems.map(({ place, message }) => `${place}: ${message}`);
}

test("a value that fits comes out typed", () => {
  const value = { name: "x", list: [{ count: 2 }], either: "a", free: { any: [1] } };
  assert.deepEqual(check(schema, value), { ok: true, output: value });
});

test("every problem is told at once, with place, what was found and what is allowed", () => {
  assert.deepEqual(
    problems({ nmae: 1, list: [{ count: 0 }, { count: "2", cuont: 1 }, 5], either: { urll: "x" } }),
    [
      'nmae: Unknown key "nmae", did you mean "name"?',
      'list[1].cuont: Unknown key "cuont", did you mean "count"?',
      'either.urll: Unknown key "urll", did you mean "url"?',
      "name: Missing",
      "list[0].count: Expected at least 1, found 0",
      'list[1].count: Expected a number, found "2"',
      "list[2]: Expected an object, found 5",
      "either.url: Missing",
    ],
  );
});

test("keys that no one is near list what is known", () => {
  assert.deepEqual(problems({ name: "x", zebra: 1 }), [
    'zebra: Unknown key "zebra"; known here: name, list, either, free',
  ]);
});

test("a list where an object belongs is told as that", () => {
  assert.deepEqual(problems([]), [": Expected an object, found a list"]);
});

test("paths read like code", () => {
  assert.equal(
    pathText([3, "expected", "tool_calls", 0, "name", "a b"]),
    '[3].expected.tool_calls[0].name["a b"]',
  );
});

test("near names are found, far ones are not", () => {
  assert.equal(nearest("evla", ["eval", "trace"]), "eval");
  assert.equal(nearest("MODEL-PROVIDER", ["model_provider"]), "model_provider");
  assert.equal(nearest("zzz", ["eval"]), undefined);
  assert.equal(didYouMean("x".repeat(100_000), ["eval"]), "");
});
