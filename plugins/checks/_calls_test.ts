import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson } from "../../lib/text/json.ts";
import type { Json } from "../../lib/trace/trajectory.ts";
import { isSubset } from "./_calls.ts";

test("objects match by the keys that are expected, lists item by item, each with a partner of its own", () => {
  const cases: [Json, Json, boolean][] = [
    [{}, { a: 1 }, true],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }, true],
    [{ a: 1 }, { b: 1 }, false],
    [[1, 1], [1, 2], false],
    [[{}, { a: 1 }], [{ a: 1 }, {}], true],
    [[{ a: 1 }, {}], [{ a: 1 }, { b: 2 }], true],
    [[2, 1], [1, 3, 2], true],
    [[], [1], true],
    [[1], { "0": 1 }, false],
    [1, true, false],
    [true, 1, false],
    [null, 0, false],
    [{ a: null }, {}, false],
    ["a", "ab", false],
  ];
  for (const [expected, actual, fits] of cases)
    assert.equal(isSubset(expected, actual), fits, JSON.stringify([expected, actual]));
});

test("numbers compare by value, also where JavaScript would round them", () => {
  assert.ok(isSubset(parseJson("1"), parseJson("1.0", { floats: true })));
  assert.ok(!isSubset(parseJson("12345678901234567890"), parseJson("12345678901234567891")));
  assert.ok(isSubset(parseJson("12345678901234567890"), parseJson("12345678901234567890")));
});

test("every value is contained in itself, and in itself with more beside", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify(value)) as Json;
      assert.ok(isSubset(json, json));
      assert.ok(isSubset({ a: json }, { a: json, b: 1 }));
      assert.ok(isSubset([json], [1, json]));
    }),
  );
});
