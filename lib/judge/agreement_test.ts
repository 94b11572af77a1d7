import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { agreement, correctedShare, kappa } from "./agreement.ts";

const close = (found: number | undefined, expected: number, digits = 4) =>
  assert.ok(Math.abs((found ?? Number.NaN) - expected) < 10 ** -digits, `${found} is not ${expected}`);
const counts = (tp: number, fp: number, fn: number, tn: number) => ({
  true_positive: tp,
  false_positive: fp,
  false_negative: fn,
  true_negative: tn,
});

test("Cohen's kappa is what the textbook has", () => {
  // 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 0.4.
  close(kappa(counts(20, 10, 5, 15))!, 0.4);
  close(kappa(counts(45, 15, 25, 15))!, 0.1304);
  assert.equal(kappa(counts(5, 0, 0, 0)), null);
  assert.equal(kappa(counts(0, 0, 0, 0)), null);
});

test("agreement counts passes at the threshold and measures the distance", () => {
  const rows = [
    { label: 1, score: 0.9 },
    { label: 1, score: 0.5 },
    { label: 0, score: 0.2 },
    { label: 0, score: 0.8 },
    { label: 1, score: 0.1 },
  ];
  const found = agreement(rows, 0.5);
  assert.deepEqual(found.confusion, counts(2, 1, 1, 1));
  close(found.accuracy?.value, 0.6);
  close(found.mean_absolute_error?.value, 0.5);
  close(found.sensitivity?.value, 2 / 3);
  close(found.specificity?.value, 0.5);
  close(found.kappa?.value, 1 / 6);
  assert.deepEqual(agreement(rows, 0.5), found);
});

test("what cannot be told is null, not a number", () => {
  const none = agreement([], 0.5);
  assert.deepEqual(
    [none.accuracy, none.kappa, none.mean_absolute_error, none.sensitivity],
    [null, null, null, null],
  );
  const oneKind = agreement(
    [
      { label: 1, score: 1 },
      { label: 1, score: 1 },
    ],
    0.5,
  );
  assert.deepEqual([oneKind.kappa, oneKind.specificity], [null, null]);
});

test("a share is corrected for the errors that labels show, with a wider interval", () => {
  // 23 of 150 found; 48 of 50 passes and 89 of 100 failures recognised: (0.1533 + 0.89 - 1) / (0.96 + 0.89 - 1).
  const corrected = correctedShare(23, 150, counts(48, 11, 2, 89))!;
  close(corrected.value, 0.051, 3);
  assert.ok(
    corrected.low >= 0 && corrected.low < corrected.value && corrected.high < 0.16,
    JSON.stringify(corrected),
  );
  // A judge without error in ten thousand labels leaves the share as it is.
  close(correctedShare(30, 100, counts(5_000, 0, 0, 5_000))!.value, 0.3, 6);
  // No better than chance, or labels of one kind only: nothing can be said.
  assert.equal(correctedShare(5, 10, counts(5, 5, 5, 5)), null);
  assert.equal(correctedShare(5, 10, counts(5, 0, 5, 0)), null);
});

test("the corrected interval holds the truth about as often as it says", () => {
  // 400 simulated calibrations and runs, drawn in the same way each time.
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  const hits = (n: number, p: number) => Array.from({ length: n }, random).filter((one) => one < p).length;
  const [truth, se, sp, rounds] = [0.7, 0.85, 0.8, 400];
  let held = 0;
  for (let i = 0; i < rounds; i += 1) {
    const [tp, tn] = [hits(60, se), hits(60, sp)];
    const positive = hits(200, truth * se + (1 - truth) * (1 - sp));
    const { low, high } = correctedShare(positive, 200, counts(tp, 60 - tn, 60 - tp, tn))!;
    if (low <= truth && truth <= high) held += 1;
  }
  assert.ok(held / rounds > 0.92, `${held} of ${rounds}`);
});

test("whatever the labels, every share is in 0…1 and inside its interval", () => {
  const value = fc.double({ min: 0, max: 1, noNaN: true });
  const rows = fc.array(fc.record({ label: value, score: value }), { maxLength: 20 });
  fc.assert(
    fc.property(rows, value, fc.nat(20), (some, threshold, positive) => {
      const { confusion, accuracy, mean_absolute_error } = agreement(some, threshold);
      for (const estimate of [accuracy, mean_absolute_error, correctedShare(positive, 20, confusion)]) {
        if (estimate === null) continue;
        const { value: at, low, high } = estimate;
        assert.ok(low >= 0 && high <= 1 && low <= high && at >= 0 && at <= 1, JSON.stringify(estimate));
      }
    }),
    { numRuns: 50 },
  );
});
