import * as v from "valibot";
import type { Problem } from "./errors.ts";
import { didYouMean } from "./text/nearest.ts";

/** Steps from the top of a value to a place in it. */
export type Path = readonly (string | number)[];

/** `[3].expected.tool_calls[0].name`. */
export function pathText(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
  }
  return text;
}

/** A short, one-line picture of what was found. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

interface SchemaLike {
  type: string;
  entries?: Record<string, SchemaLike>;
  item?: SchemaLike;
  value?: SchemaLike;
  wrapped?: SchemaLike;
  options?: readonly SchemaLike[];
  pipe?: readonly SchemaLike[];
}

/**
 * Checks a value and gives it typed, or every problem at once: unknown keys of objects with the nearest known one, and
 * at each wrong place what was found and what is allowed.
 */
export function check<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  at: Path = [],
): { ok: true; output: v.InferOutput<S> } | { ok: false; problems: Problem[]; paths: Path[] } {
  const paths: Path[] = [];
  const problems: Problem[] = [];
  const add = (path: Path, message: string) => {
    paths.push(path);
    problems.push({ place: pathText(path), message });
  };
  for (const { path, message } of unknownKeys(schema as unknown as SchemaLike, value, at)) add(path, message);
  const parsed = v.safeParse(schema, value);
  if (parsed.success && problems.length === 0) return { ok: true, output: parsed.output };
  const told = new Set(
    problems.filter(({ message }) => message.endsWith("found a list")).map(({ place }) => place),
  );
  for (const issue of parsed.issues ?? []) {
    const deepest = deepestIssue(issue as Issue);
    const path = [...at, ...deepest.path];
    if (!told.has(pathText(path.slice(0, -1)))) add(path, issueMessage(deepest.issue));
  }
  return { ok: false, problems, paths };
}

type Issue = v.BaseIssue<unknown>;

/** Of an alternative none of whose forms fits, the one that came furthest tells best what is wrong. */
function deepestIssue(issue: Issue, before: Path = []): { issue: Issue; path: Path } {
  const path = [...before, ...(issue.path ?? []).map((step) => step.key as string | number)];
  let best: { issue: Issue; path: Path } = { issue, path };
  for (const inner of issue.issues ?? []) {
    const found = deepestIssue(inner as Issue, path);
    const tells = best.issue === issue && !found.issue.message.startsWith("Invalid ");
    if (found.path.length > best.path.length || tells) best = found;
  }
  return best;
}

const WORDS: Record<string, string> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  Object: "an object",
  Array: "a list",
  null: "null",
  undefined: "nothing",
};

function issueMessage(issue: Issue): string {
  if (!issue.message.startsWith("Invalid ")) return issue.message;
  if (issue.type.endsWith("object") && issue.received === "undefined" && issue.expected?.startsWith('"'))
    return "Missing";
  const found =
    issue.kind === "validation" && issue.received !== null && !isPlain(issue.input)
      ? issue.received
      : show(issue.input);
  if (issue.type === "integer") return `Expected a whole number, found ${found}`;
  if (issue.type === "min_length" && issue.expected === ">=1" && issue.input === "")
    return "Expected a text that is not empty";
  if (issue.type === "non_empty" || (issue.type === "min_length" && issue.expected === ">=1")) {
    return "Expected at least one, found none";
  }
  return `Expected ${expectedWords(issue.expected)}, found ${found}`;
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function expectedWords(expected: string | null): string {
  if (expected === null) return "something else";
  const limit = /^(>=|<=|>|<)(.*)$/.exec(expected);
  if (limit !== null) {
    const words = { ">=": "at least", "<=": "at most", ">": "more than", "<": "less than" };
    return `${words[limit[1] as ">="]} ${limit[2]}`;
  }
  const options = expected.replace(/^\((.*)\)$/, "$1").split(" | ");
  return [...new Set(options.map((option) => WORDS[option] ?? option))].join(" or ");
}

/** Keys that no form of the schema knows, at every depth. */
function* unknownKeys(
  schema: SchemaLike,
  value: unknown,
  path: Path,
): Generator<{ path: Path; message: string }> {
  const forms = objectForms(schema);
  if (Array.isArray(value)) {
    const item = forms.find((form) => form.item !== undefined)?.item;
    // Valibot takes a list for an object without keys.
    if (item === undefined && forms.some((form) => form.entries !== undefined || form.value !== undefined)) {
      yield { path, message: "Expected an object, found a list" };
    }
    if (item !== undefined)
      for (const [i, element] of value.entries()) yield* unknownKeys(item, element, [...path, i]);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const closed = forms.filter((form) => form.entries !== undefined);
  const records = forms.filter((form) => form.value !== undefined && form.entries === undefined);
  for (const [key, inner] of Object.entries(value)) {
    const known = closed
      .map((form) => (Object.hasOwn(form.entries!, key) ? form.entries![key] : undefined))
      .find(Boolean);
    if (known !== undefined) yield* unknownKeys(known, inner, [...path, key]);
    else if (records.length > 0) yield* unknownKeys(records[0]!.value!, inner, [...path, key]);
    else if (closed.length > 0 && !closed.some((form) => form.type === "loose_object")) {
      const names = closed.flatMap((form) => Object.keys(form.entries!));
      const hint = didYouMean(key, names) || `; known here: ${[...new Set(names)].join(", ")}`;
      yield { path: [...path, key], message: `Unknown key "${key}"${hint}` };
    }
  }
}

/** The object, list and record schemas inside optional, nullable, piped and alternative ones. */
function objectForms(schema: SchemaLike): SchemaLike[] {
  if (schema.wrapped !== undefined) return objectForms(schema.wrapped);
  if (schema.options !== undefined) {
    return schema.options.filter((option) => typeof option === "object").flatMap(objectForms);
  }
  return [schema];
}
