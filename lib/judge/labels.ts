import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { BatError, messageOf, type Problem, problemsError } from "../errors.ts";
import { show } from "../schema.ts";
import { digestOf } from "../store/atomic.ts";
import { didYouMean } from "../text/nearest.ts";
import type { Rubric } from "./rubric.ts";

/** A human's word on one episode by one rubric. */
export interface Label {
  /** Line in the file, from 1. */
  line: number;
  rubric: Rubric;
  /** 0…1. */
  label: number;
  /** The judge's score, where the file brings it; null where the file says that there was none. */
  score: number | null | undefined;
  /** File of the episode as the labels name it. */
  episode: string | undefined;
}

/** The labels of a file. */
export interface Labels {
  labels: Label[];
  digest: string;
}

const WORDS: Readonly<Record<string, number>> = { true: 1, pass: 1, yes: 1, false: 0, fail: 0, no: 0 };

type Row = { line: number; values: Readonly<Record<string, unknown>> };

/**
 * Reads human labels from CSV (with a heading line) or JSON lines. Each has `rubric` (its name or its score's field),
 * `label` (0…1, or pass, fail, true, false) and `episode` (a file) or `score`; what else stands there is left alone.
 *
 * @throws BatError (code `config`) with every line that is wrong
 */
export async function readLabels(file: string, shown: string, rubrics: readonly Rubric[]): Promise<Labels> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new BatError("usage", `Cannot read the labels ${shown}: ${messageOf(error)}`, { cause: error });
  }
  const problems: Problem[] = [];
  const rows = /\.(jsonl|ndjson|json)$/i.test(shown)
    ? jsonRows(text, problems, shown)
    : await csvRows(text, shown);
  const labels = rows.flatMap((row) => labelOf(row, rubrics, shown, problems) ?? []);
  if (rows.length === 0 && problems.length === 0)
    problems.push({ file: shown, message: "Expected at least one label, found none" });
  if (problems.length > 0) throw problemsError("config", `${shown} cannot be used:`, problems);
  return { labels, digest: digestOf(text) };
}

function jsonRows(text: string, problems: Problem[], file: string): Row[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .flatMap((content, i): Row[] => {
      const line = i + 1;
      if (content.trim() === "") return [];
      try {
        return [{ line, values: v.parse(v.record(v.string(), v.unknown()), JSON.parse(content)) }];
      } catch {
        problems.push({
          file,
          place: `line ${line}`,
          message: `Expected a JSON object, found ${show(content)}`,
        });
        return [];
      }
    });
}

async function csvRows(text: string, file: string): Promise<Row[]> {
  const { parse } = await import("csv-parse/sync");
  try {
    const rows = parse(text, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as { record: Record<string, string>; info: { lines: number } }[];
    return rows.map(({ record, info }) => ({
      line: info.lines,
      values: Object.fromEntries(Object.entries(record).filter(([, value]) => value !== "")),
    }));
  } catch (error) {
    throw new BatError("config", `${file} cannot be read as CSV: ${messageOf(error)}`, { cause: error });
  }
}

function labelOf(
  { line, values }: Row,
  rubrics: readonly Rubric[],
  file: string,
  problems: Problem[],
): Label | null {
  const before = problems.length;
  const say = (message: string) => problems.push({ file, place: `line ${line}`, message });
  const rubric = rubrics.find(({ name, score }) => values.rubric === name || values.rubric === score);
  if (rubric === undefined) {
    const names = rubrics.flatMap(({ name, score }) => [name, score]);
    const found = values.rubric;
    say(
      typeof found === "string"
        ? `Unknown rubric "${found}"${didYouMean(found, names) || `; there are ${names.join(", ")}`}`
        : `Expected rubric, the name of one, found ${show(found)}`,
    );
  }
  const label = numberOf(values.label);
  if (label === null)
    say(`Expected label, a number from 0 to 1 or pass, fail, true or false, found ${show(values.label)}`);
  const { episode } = values;
  const score = values.score === undefined ? undefined : numberOf(values.score);
  if (values.score != null && score === null)
    say(`Expected score, a number from 0 to 1, found ${show(values.score)}`);
  if (values.score === undefined && (typeof episode !== "string" || episode === ""))
    say("Expected episode, the file of one, or score, found neither");
  if (problems.length > before) return null;
  return {
    line,
    rubric: rubric!,
    label: label!,
    score,
    episode: typeof episode === "string" ? episode : undefined,
  };
}

function numberOf(value: unknown): number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  const text = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (typeof text === "string" && Object.hasOwn(WORDS, text)) return WORDS[text]!;
  const number = typeof text === "string" && /^\d*\.?\d+(e-?\d+)?$/.test(text) ? Number(text) : text;
  return typeof number === "number" && number >= 0 && number <= 1 ? number : null;
}
