import type { ModelResult, RubricResult } from "../eval/observer.ts";
import { printable } from "../text/printable.ts";
import { percent } from "./format.ts";

/** The judge's scores of a model for a person: each with what is known of how far it can be trusted, then the cost. */
export function scoreLines({ qualitative, judging }: ModelResult): string[] {
  const byField = new Map(Object.values(judging).map((rubric) => [rubric.field, rubric]));
  const fields = [...new Set([...Object.keys(qualitative), ...byField.keys()])];
  const lines = fields.flatMap((field) => [
    scoreLine(field, qualitative[field]),
    ...detailLines(byField.get(field)).map((line) => `  ${line}`),
  ]);
  return [...lines, ...costLine(Object.values(judging))].map((line) => `  ${line}`);
}

function scoreLine(field: string, score: ModelResult["qualitative"][string] | undefined): string {
  if (score === undefined) return `${field}: no score`;
  const { avg, min, max, count } = score;
  return `${field}: ${avg.toFixed(2)} (${min} to ${max}, ${count} episode${count === 1 ? "" : "s"})`;
}

function detailLines(rubric: RubricResult | undefined): string[] {
  if (rubric === undefined) return [];
  const { missing, disagreement, self_disagreement, calibrated } = rubric;
  const lines: string[] = [];
  if (missing !== null)
    lines.push(
      `${missing.count} episode${missing.count === 1 ? "" : "s"} without a score: ${printable(missing.reason)} (\`bat eval judge\` asks again)`,
    );
  if (disagreement !== null) lines.push(`the judges differ by ${disagreement.toFixed(2)} on average`);
  if (self_disagreement !== null)
    lines.push(`a judge asked again differs by ${self_disagreement.toFixed(2)} on average`);
  if (calibrated !== null) {
    const { threshold, raw, corrected, note } = calibrated;
    lines.push(`at least ${threshold}: ${range(raw)}`);
    lines.push(
      corrected === null
        ? `not corrected for the judge's error: ${note}`
        : `corrected for the judge's measured error: ${range(corrected)}`,
    );
  }
  return lines;
}

function range({ value, low, high }: { value: number; low: number; high: number }): string {
  return `${percent(value)} (95 % CI ${Math.round(low * 100)}–${percent(high)})`;
}

function costLine(rubrics: readonly RubricResult[]): string[] {
  const sum = (of: (rubric: RubricResult) => number) => rubrics.reduce((total, one) => total + of(one), 0);
  const tokens = sum((one) => one.tokens.in + one.tokens.out);
  if (rubrics.length === 0) return [];
  const dollars = rubrics.every((one) => one.cost_usd !== null)
    ? `, $${sum((one) => one.cost_usd ?? 0).toFixed(4)}`
    : "";
  const known = sum((one) => one.known);
  return [
    `judging took ${tokens} tokens in ${sum((one) => one.asked)} answers${dollars}${known === 0 ? "" : `, ${known} more were known`}`,
  ];
}
