import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countCodePoints, firstCodePoints, isLongerThan } from "./code-points.ts";
import { expandEnv, unsetVariables } from "./expand.ts";
import { isRawNumber, parseJson } from "./json.ts";
import { pyFloat, pyJson } from "./python-json.ts";

test("JSON as Python's json.dumps writes it", () => {
  // Values of `json.dumps(x, ensure_ascii=False)` in Python 3.13.
  const cases: [string, string][] = [
    [
      '{"a":[1,2.5,"ü\\u0001\\"\\n"],"b":null,"c":true}',
      '{"a": [1, 2.5, "ü\\u0001\\"\\n"], "b": null, "c": true}',
    ],
    [
      "[1.0,1e5,1e16,1e-5,0.0001,123456789012345678901234567890,-0.0]",
      "[1.0, 100000.0, 1e+16, 1e-05, 0.0001, 123456789012345678901234567890, -0.0]",
    ],
    ["[]", "[]"],
    ["{}", "{}"],
    ['"😀\\u007f"', '"😀\u007f"'],
  ];
  for (const [source, expected] of cases) assert.equal(pyJson(parseJson(source, { floats: true })), expected);
});

test("floats as Python's repr writes them", () => {
  for (const [value, text] of [
    [0.1, "0.1"],
    [1e22, "1e+22"],
    [123456789.125, "123456789.125"],
    [5e-324, "5e-324"],
    [-1.5e-7, "-1.5e-07"],
    [1e15, "1000000000000000.0"],
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
  ] as const) {
    assert.equal(pyFloat(value), text);
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      Object.is(Number(pyFloat(value)), value),
    ),
  );
});

test("numbers that JavaScript would lose keep their source text, and only those", () => {
  assert.ok(isRawNumber(parseJson("12345678901234567890")));
  assert.equal(
    JSON.stringify(parseJson('{"a":12345678901234567890,"b":1.0}')),
    '{"a":12345678901234567890,"b":1}',
  );
  assert.equal(JSON.stringify(parseJson('{"b":1.0}', { floats: true })), '{"b":1.0}');
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(
        JSON.parse(JSON.stringify(parseJson(JSON.stringify(value)))),
        JSON.parse(JSON.stringify(value)),
      ),
    ),
  );
});

test("code points are counted and cut as Python counts and cuts them", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 20 }), (text, limit) => {
      const points = [...text];
      assert.equal(countCodePoints(text), points.length);
      assert.equal(firstCodePoints(text, limit), points.slice(0, limit).join(""));
      assert.equal(isLongerThan(text, limit), points.length > limit);
    }),
  );
});

test("variables are put in as os.path.expandvars does, unset ones stay", () => {
  const env = { A: "1", B_2: "two" };
  assert.equal(expandEnv("$A ${B_2} $NO ${NO} $$A ${} $", env), "1 two $NO ${NO} $1 ${} $");
  assert.deepEqual(unsetVariables("$A $NO ${NO} ${X}", env), ["NO", "X"]);
});
