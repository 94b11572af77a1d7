import type { Rate } from "./observer.ts";

/** Two-sided 95 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * A share of successes with its 95 % Wilson score interval.
 *
 * Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
 *
 * @returns null for no trials
 */
export function wilson(passed: number, trials: number): Rate | null {
  if (trials === 0) return null;
  const p = passed / trials;
  const z2 = Z * Z;
  const denominator = 1 + z2 / trials;
  const middle = (p + z2 / (2 * trials)) / denominator;
  const half = (Z / denominator) * Math.sqrt((p * (1 - p)) / trials + z2 / (4 * trials * trials));
  // At the ends the formula gives 0 and 1 but for rounding.
  const low = passed === 0 ? 0 : Math.max(0, middle - half);
  const high = passed === trials ? 1 : Math.min(1, middle + half);
  return { value: p, low, high };
}

/**
 * The chance that at least one of k attempts passes, estimated without bias from n attempts of which c passed:
 * 1 − C(n−c, k) / C(n, k).
 *
 * Source: M. Chen et al., Evaluating large language models trained on code, arXiv:2107.03374 (2021).
 *
 * @returns null when k exceeds n
 */
export function passAtK(n: number, c: number, k: number): number | null {
  if (k > n || k < 1) return null;
  return 1 - shareWithin(n, n - c, k);
}

/**
 * The chance that all of k attempts pass, estimated without bias: C(c, k) / C(n, k).
 *
 * Source: S. Yao et al., τ-bench, arXiv:2406.12045 (2024).
 *
 * @returns null when k exceeds n
 */
export function passHatK(n: number, c: number, k: number): number | null {
  if (k > n || k < 1) return null;
  return shareWithin(n, c, k);
}

/** C(m, k) / C(n, k) as a product of fractions below 1: nothing overflows, however large n is. */
function shareWithin(n: number, m: number, k: number): number {
  if (k > m) return 0;
  let share = 1;
  for (let i = 0; i < k; i += 1) share *= (m - i) / (n - i);
  return share;
}

/** Two-sided 95 % quantiles of Student's t distribution, by degrees of freedom from 1. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/**
 * A mean with its 95 % interval by Student's t.
 *
 * @returns null for fewer than two values: nothing can be said of how far they spread
 */
export function meanInterval(values: readonly number[]): Rate | null {
  const n = values.length;
  if (n < 2) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  // Beyond the table the distance to the normal distribution's quantile falls as 1 / degrees of freedom.
  const t = T[n - 2] ?? Z + 2.5 / (n - 1);
  const half = t * Math.sqrt(variance / n);
  return { value: mean, low: mean - half, high: mean + half };
}

/** The p-quantile (0…1) by the nearest-rank definition: the smallest value that at least a share p does not exceed. */
export function percentile(sorted: Float64Array | readonly number[], p: number): number {
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.max(1, Math.ceil(p * sorted.length));
  return sorted[rank - 1]!;
}
