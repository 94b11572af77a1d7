import { wilson } from "../eval/statistics.ts";

/** Two-sided 95 % quantile of the normal distribution. */
const Z = 1.959963984540054;
const RESAMPLES = 2_000;

/** A value with its 95 % interval. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/** A human's label and the judge's score of the same episode, both 0…1. */
export interface LabelledScore {
  label: number;
  score: number;
}

/** How often judge and human agree at a threshold; positive is a label or a score at or above it. */
export interface Confusion {
  true_positive: number;
  false_positive: number;
  false_negative: number;
  true_negative: number;
}

/** How far a judge agrees with humans. Null where it cannot be told: too few labels, or all of one kind. */
export interface Agreement {
  n: number;
  confusion: Confusion;
  accuracy: Estimate | null;
  /** Cohen's kappa: agreement beyond what chance gives. */
  kappa: Estimate | null;
  mean_absolute_error: Estimate | null;
  /** Share of the humans' positives that the judge finds, and of their negatives. */
  sensitivity: Estimate | null;
  specificity: Estimate | null;
}

/**
 * Agreement of a judge with human labels.
 *
 * Shares have Wilson intervals. Kappa and the error have percentile intervals of 2,000 bootstrap resamples (B. Efron and
 * R. Tibshirani, An introduction to the bootstrap, 1993), drawn in the same way each time, so that the same labels give
 * the same numbers. Kappa: J. Cohen, Educational and Psychological Measurement 20 (1960).
 */
export function agreement(rows: readonly LabelledScore[], threshold: number): Agreement {
  const confusion = confusionOf(rows, threshold);
  const { true_positive: tp, false_positive: fp, false_negative: fn, true_negative: tn } = confusion;
  return {
    n: rows.length,
    confusion,
    accuracy: wilson(tp + tn, rows.length),
    kappa: bootstrap(rows, (some) => kappa(confusionOf(some, threshold))),
    mean_absolute_error: bootstrap(rows, meanAbsoluteError),
    sensitivity: wilson(tp, tp + fn),
    specificity: wilson(tn, tn + fp),
  };
}

export function confusionOf(rows: readonly LabelledScore[], threshold: number): Confusion {
  const confusion = { true_positive: 0, false_positive: 0, false_negative: 0, true_negative: 0 };
  for (const { label, score } of rows) {
    const human = label >= threshold;
    const judge = score >= threshold;
    if (human) confusion[judge ? "true_positive" : "false_negative"] += 1;
    else confusion[judge ? "false_positive" : "true_negative"] += 1;
  }
  return confusion;
}

/** Cohen's kappa of two raters; null where chance alone would agree always, or there is nothing. */
export function kappa({
  true_positive: tp,
  false_positive: fp,
  false_negative: fn,
  true_negative: tn,
}: Confusion): number | null {
  const n = tp + fp + fn + tn;
  if (n === 0) return null;
  const observed = (tp + tn) / n;
  const expected = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / (n * n);
  return expected === 1 ? null : (observed - expected) / (1 - expected);
}

function meanAbsoluteError(rows: readonly LabelledScore[]): number | null {
  if (rows.length === 0) return null;
  return rows.reduce((sum, { label, score }) => sum + Math.abs(label - score), 0) / rows.length;
}

function bootstrap(
  rows: readonly LabelledScore[],
  statistic: (rows: readonly LabelledScore[]) => number | null,
): Estimate | null {
  const value = statistic(rows);
  if (value === null || rows.length < 2) return null;
  const random = randomNumbers(rows.length);
  const drawn: number[] = [];
  for (let i = 0; i < RESAMPLES; i += 1) {
    const one = statistic(rows.map(() => rows[Math.floor(random() * rows.length)]!));
    if (one !== null) drawn.push(one);
  }
  drawn.sort((a, b) => a - b);
  const at = (p: number) => drawn[Math.min(drawn.length - 1, Math.floor(p * drawn.length))] ?? value;
  return { value, low: Math.min(value, at(0.025)), high: Math.max(value, at(0.975)) };
}

/** Numbers in 0…1 that are the same each time (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * The true share of positives behind the share that a judge found, given its errors against labels: the Rogan–Gladen
 * estimate, with the interval of Lang and Reiczigel, which counts in that the errors themselves are only estimated.
 *
 * Sources: W. Rogan and B. Gladen, American Journal of Epidemiology 107 (1978); Zs. Lang and J. Reiczigel, Confidence
 * limits for prevalence of disease adjusted for estimated sensitivity and specificity, Preventive Veterinary Medicine
 * 113 (2014).
 *
 * @returns null where there is nothing to correct, labels of one kind are missing, or the judge is no better than chance
 */
export function correctedShare(positive: number, n: number, confusion: Confusion): Estimate | null {
  const { true_positive: tp, false_positive: fp, false_negative: fn, true_negative: tn } = confusion;
  const [nSe, nSp] = [tp + fn, tn + fp];
  if (n === 0 || nSe === 0 || nSp === 0) return null;
  const youden = tp / nSe + tn / nSp - 1;
  if (youden <= 0) return null;
  const value = (positive / n + tn / nSp - 1) / youden;
  // The interval is that of slightly adjusted counts.
  const z2 = Z * Z;
  const p = (positive + z2 / 2) / (n + z2);
  const se = (tp + 1) / (nSe + 2);
  const sp = (tn + 1) / (nSp + 2);
  const j = se + sp - 1;
  if (j <= 0) return null;
  const share = (p + sp - 1) / j;
  const [vP, vSe, vSp] = [(p * (1 - p)) / (n + z2), (se * (1 - se)) / (nSe + 2), (sp * (1 - sp)) / (nSp + 2)];
  const error = Math.sqrt(vP + vSe * share ** 2 + vSp * (1 - share) ** 2) / j;
  const shift = 2 * z2 * (share * vSe - (1 - share) * vSp);
  return {
    value: within01(value),
    low: within01(share + shift - Z * error),
    high: within01(share + shift + Z * error),
  };
}

function within01(value: number): number {
  return Math.min(1, Math.max(0, value));
}
