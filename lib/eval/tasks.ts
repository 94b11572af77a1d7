import { glob, readFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import * as v from "valibot";
import { BatError, messageOf, type Problem, problemsError } from "../errors.ts";
import type { CheckPlugin } from "../plugin/define.ts";
import type { Loaded } from "../plugin/loader.ts";
import { check } from "../schema.ts";
import { parseJson } from "../text/json.ts";
import { whyUnread } from "./config.ts";
import type { Expected } from "./verdict.ts";

/** One task of a dataset: what the user says, turn by turn, and what is expected of the agent. */
export interface TaskSpec {
  id: string;
  turns: string[];
  /** Fields of the checks, each as its schema gives it; absent ones with a default have it. */
  expected: Expected & { expected_outcome?: string | null };
  meta: Record<string, unknown>;
}

type Checks = readonly Loaded<CheckPlugin>[];

/** The schema of a task, put together from the checks' own. */
function taskSchema(checks: Checks) {
  const fields: Record<string, v.GenericSchema> = { expected_outcome: v.optional(v.nullable(v.string())) };
  for (const { definition } of checks) fields[definition.field] = v.optional(definition.schema);
  return v.object({
    id: v.pipe(
      v.string(),
      v.check((id) => id.trim() !== "", "Expected an id that is not empty"),
      v.check((id) => !id.includes("\0"), "Expected an id without NUL"),
    ),
    turns: v.pipe(
      v.array(v.pipe(v.string(), v.minLength(1, "Expected a text that is not empty"))),
      v.minLength(1),
    ),
    expected: v.optional(v.nullable(v.object(fields))),
    meta: v.optional(v.record(v.string(), v.unknown()), {}),
  });
}

/**
 * Reads the tasks of a dataset.
 *
 * @param datasets files or globs, relative to `baseDir`; `.json` (a list), `.jsonl` (one a line), `.yaml`, `.yml`
 * @throws BatError (code `config`) with everything that is wrong in any of the files
 */
export async function loadTasks(
  datasets: readonly string[],
  checks: Checks,
  baseDir: string,
): Promise<TaskSpec[]> {
  const files = await datasetFiles(datasets, baseDir);
  const schema = taskSchema(checks);
  const tasks: TaskSpec[] = [];
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const file of files) {
    const name = shortName(file, baseDir);
    try {
      for (const { value, place } of await readItems(file, name)) {
        const checked = check(schema, value);
        if (checked.ok) tasks.push(taskOf(checked.output, checks));
        else problems.push(...checked.problems.map((problem) => atPlace(name, place, problem)));
        const id = (value as { id?: unknown } | null)?.id;
        if (typeof id !== "string") continue;
        const other = seen.get(id);
        if (other === undefined) seen.set(id, `${name} ${place}`);
        else
          problems.push({
            file: name,
            place: `${place}.id`,
            message: `Duplicate id "${id}", also at ${other}`,
          });
      }
    } catch (error) {
      if (!(error instanceof BatError)) throw error;
      problems.push(...(error.problems.length > 0 ? error.problems : [{ message: error.message }]));
    }
  }
  if (problems.length > 0) throw problemsError("config", "The tasks cannot be used:", problems);
  if (tasks.length === 0) {
    throw new BatError(
      "config",
      `${files.map((file) => shortName(file, baseDir)).join(", ")}: Expected at least one task, found none`,
    );
  }
  return tasks;
}

function taskOf(parsed: v.InferOutput<ReturnType<typeof taskSchema>>, checks: Checks): TaskSpec {
  const expected: Record<string, unknown> = { ...(parsed.expected ?? {}) };
  for (const { definition } of checks) {
    if (expected[definition.field] === undefined && definition.default !== undefined) {
      expected[definition.field] = definition.default;
    }
  }
  return { id: parsed.id, turns: parsed.turns, expected, meta: parsed.meta };
}

async function datasetFiles(datasets: readonly string[], baseDir: string): Promise<string[]> {
  const files: string[] = [];
  for (const dataset of datasets) {
    if (!/[*?[{]/.test(dataset)) {
      files.push(resolve(baseDir, dataset));
      continue;
    }
    const found: string[] = [];
    for await (const match of glob(dataset, { cwd: baseDir }))
      found.push(isAbsolute(match) ? match : join(baseDir, match));
    if (found.length === 0)
      throw new BatError("config", `No file fits the dataset "${dataset}" in "${baseDir}"`);
    files.push(...found.sort());
  }
  return [...new Set(files)];
}

interface Item {
  value: unknown;
  /** `[3]`, or `line 4` of a .jsonl file. */
  place: string;
}

async function readItems(file: string, name: string): Promise<Item[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    const message = whyUnread(error as NodeJS.ErrnoException);
    throw new BatError("config", `${name}: ${message}`, {
      problems: [{ file: name, message }],
      cause: error,
    });
  }
  if (file.endsWith(".jsonl")) return jsonLines(text, name);
  return listItems(/\.ya?ml$/.test(file) ? await yamlValue(text, name) : jsonValue(text, name), name);
}

function jsonLines(text: string, name: string): Item[] {
  const items: Item[] = [];
  const problems: Problem[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      items.push({ value: parseJson(line), place: `line ${i + 1}` });
    } catch (error) {
      problems.push({ file: name, place: `line ${i + 1}`, message: `Expected JSON: ${messageOf(error)}` });
    }
  }
  if (problems.length > 0) throw problemsError("config", "Not JSON lines:", problems);
  return items;
}

function jsonValue(text: string, name: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const message = `Expected JSON: ${messageOf(error)}`;
    throw new BatError("config", `${name}: ${message}`, {
      problems: [{ file: name, message }],
      cause: error,
    });
  }
}

async function yamlValue(text: string, name: string): Promise<unknown> {
  const { readYaml } = await import("../text/yaml-read.ts");
  return readYaml(text, name).value;
}

function listItems(value: unknown, name: string): Item[] {
  if (!Array.isArray(value)) {
    const message = `Expected a list of tasks, found ${value === null ? "nothing" : typeof value === "object" ? "an object" : JSON.stringify(value)}`;
    throw new BatError("config", `${name}: ${message}`, { problems: [{ file: name, message }] });
  }
  return value.map((item: unknown, i) => ({ value: item, place: `[${i}]` }));
}

function atPlace(file: string, place: string, problem: Problem): Problem {
  const inner = problem.place ?? "";
  const joint = inner === "" || inner.startsWith("[") ? "" : place.startsWith("[") ? "." : " ";
  return { file, place: `${place}${joint}${inner}`, message: problem.message };
}

function shortName(file: string, baseDir: string): string {
  const short = relative(baseDir, file);
  return short.startsWith("..") ? file : short;
}
