import { meanInterval } from "../../lib/eval/statistics.ts";
import type { PlottedModel } from "../../lib/plugin/define.ts";

/** A mean with what it is between; `mean` is null where there is no value. */
export interface Range {
  model: string;
  mean: number | null;
  low: number | null;
  high: number | null;
  /** 95 % interval of the mean; null for fewer than two values. */
  meanLow: number | null;
  meanHigh: number | null;
  count: number;
}

/** Mean, smallest and largest of values. */
export function rangeOf(model: string, values: readonly number[]): Range {
  if (values.length === 0)
    return { model, mean: null, low: null, high: null, meanLow: null, meanHigh: null, count: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [low, high] = [values.reduce(smaller), values.reduce(larger)];
  const interval = meanInterval(values);
  // The mean lies between the smallest and the largest value there can be: an interval beyond says no more.
  const meanLow = interval === null ? null : Math.max(Math.min(0, low), interval.low);
  return { model, mean, low, high, meanLow, meanHigh: interval?.high ?? null, count: values.length };
}

function smaller(a: number, b: number): number {
  return Math.min(a, b);
}

function larger(a: number, b: number): number {
  return Math.max(a, b);
}

/** One row a model: a point at the mean, a thick line over its interval where it has one, a thin one over the range, and a word where nothing is. */
export function rangeChart(
  title: string,
  axis: string,
  rows: readonly Range[],
  domain?: readonly [number, number],
): object {
  const scale = domain === undefined ? { zero: true } : { domain };
  const y = { field: "model", type: "nominal", sort: rows.map(({ model }) => model), title: null };
  return {
    title,
    data: { values: domain === undefined ? rows : rows.map((row) => within(row, domain)) },
    height: { step: 26 },
    width: 520,
    encoding: { y },
    layer: [
      {
        mark: { type: "rule", strokeWidth: 1.5, opacity: 0.6 },
        encoding: { x: { field: "low", type: "quantitative", title: axis, scale }, x2: { field: "high" } },
      },
      {
        transform: [{ filter: "isValid(datum.meanLow)" }],
        mark: { type: "rule", strokeWidth: 6, opacity: 0.4 },
        encoding: {
          x: { field: "meanLow", type: "quantitative", title: axis, scale },
          x2: { field: "meanHigh" },
        },
      },
      {
        mark: { type: "point", filled: true, size: 90, opacity: 1 },
        encoding: { x: { field: "mean", type: "quantitative" } },
      },
      {
        transform: [{ filter: "datum.mean === null" }],
        mark: { type: "text", align: "left", fontStyle: "italic", color: "#666666" },
        encoding: { text: { value: "no value" }, x: { value: 6 } },
      },
    ],
  };
}

/** An interval that ends where its values must: a mean of scores is no larger than 1. */
function within(row: Range, [least, most]: readonly [number, number]): Range {
  const { meanLow, meanHigh } = row;
  if (meanLow === null || meanHigh === null) return row;
  return { ...row, meanLow: Math.max(least, meanLow), meanHigh: Math.min(most, meanHigh) };
}

/** Names of all score fields that any model has, in the order they appear. */
export function scoreFields(models: readonly PlottedModel[]): string[] {
  const fields = new Set<string>();
  for (const { episodes } of models) {
    for (const { qualitative } of episodes) {
      for (const [field, score] of Object.entries(qualitative ?? {})) {
        if (typeof score === "number" || score === null) fields.add(field);
      }
    }
  }
  return [...fields];
}

/** A model's scores of one field; missing ones are left out, never taken for 0. */
export function scoresOf({ episodes }: PlottedModel, field: string): number[] {
  return episodes.flatMap(({ qualitative }) => {
    const score = qualitative?.[field];
    return typeof score === "number" ? [score] : [];
  });
}
