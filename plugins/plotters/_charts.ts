import type { PlottedModel } from "../../lib/plugin/define.ts";

/** A mean with what it is between; `mean` is null where there is no value. */
export interface Range {
  model: string;
  mean: number | null;
  low: number | null;
  high: number | null;
  count: number;
}

/** Mean, smallest and largest of values. */
export function rangeOf(model: string, values: readonly number[]): Range {
  if (values.length === 0) return { model, mean: null, low: null, high: null, count: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { model, mean, low: Math.min(...values), high: Math.max(...values), count: values.length };
}

/** One row a model: a point at the mean, a line over the range, and a word where nothing is. */
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
    data: { values: rows },
    height: { step: 26 },
    width: 520,
    encoding: { y },
    layer: [
      {
        mark: { type: "rule", strokeWidth: 3, opacity: 0.45 },
        encoding: { x: { field: "low", type: "quantitative", title: axis, scale }, x2: { field: "high" } },
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
