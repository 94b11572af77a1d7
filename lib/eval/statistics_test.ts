import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { percentage, roundHalfEven } from "../text/python-round.ts";
import { meanInterval, passAtK, passHatK, percentile, wilson } from "./statistics.ts";

const near = (actual: number | undefined, expected: number) =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-4, `${actual} is not ${expected}`);

test("Wilson's interval has its textbook values", () => {
  // Newcombe (1998), table of example intervals: 81/263, 15/148, 0/20, 1/29.
  for (const [passed, trials, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const rate = wilson(passed, trials);
    near(rate?.low, low);
    near(rate?.high, high);
  }
  assert.equal(wilson(0, 0), null);
});

test("intervals stay within 0 and 1 and hold the rate", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, share) => {
        const rate = wilson(Math.round(n * share), n)!;
        assert.ok(rate.low >= 0 && rate.high <= 1 && rate.low <= rate.value && rate.value <= rate.high);
      },
    ),
  );
});

test("pass@k and pass^k equal the shares of all k-subsets", () => {
  for (let n = 1; n <= 7; n += 1) {
    for (let c = 0; c <= n; c += 1) {
      for (let k = 1; k <= n; k += 1) {
        const passes = subsets(n, k).map((subset) => subset.map((i) => i < c));
        near(passAtK(n, c, k)!, passes.filter((subset) => subset.some(Boolean)).length / passes.length);
        near(passHatK(n, c, k)!, passes.filter((subset) => subset.every(Boolean)).length / passes.length);
      }
    }
  }
  assert.equal(passAtK(2, 1, 3), null);
  near(passAtK(1_000_000, 10, 5)!, 5e-5);
});

function subsets(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  if (n < k) return [];
  return [...subsets(n - 1, k), ...subsets(n - 1, k - 1).map((subset) => [...subset, n - 1])];
}

test("percentiles are nearest ranks", () => {
  const values = [1, 2, 3, 4];
  assert.deepEqual(
    [0.5, 0.75, 0.95, 0].map((p) => percentile(values, p)),
    [2, 3, 4, 1],
  );
});

test("rounding is Python's", () => {
  // Values of `round(x, 1)` in Python 3.13.
  for (const [value, rounded] of [
    [0.25, 0.2],
    [0.35, 0.3],
    [72.76595744680851, 72.8],
    [2.5, 2.5],
    [0.05, 0.1],
    [0.15, 0.1],
    [66.66666666666666, 66.7],
    [33.33333333333333, 33.3],
    [12.25, 12.2],
    [12.75, 12.8],
    [100, 100],
  ] as const) {
    assert.equal(roundHalfEven(value, 1), rounded, String(value));
  }
  assert.equal(percentage(342, 470), 72.8);
  assert.equal(percentage(1, 0), 0);
});

test("a mean has its 95 % interval by Student's t; one value has none", () => {
  const { value, low, high } = meanInterval([2, 4, 4, 4, 5, 5, 7, 9])!;
  assert.deepEqual([value, low.toFixed(3), high.toFixed(3)], [5, "3.212", "6.788"]);
  assert.equal(meanInterval([3]), null);
  const many = meanInterval(Array.from({ length: 1_000 }, (_, i) => i % 2))!;
  assert.ok(Math.abs(many.high - many.low - 2 * 1.9623 * Math.sqrt(0.25 / 999)) < 1e-4);
});
