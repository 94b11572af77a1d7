/** What a judge said. */
export interface Score {
  score: number;
  reasoning: string;
}

/** A score, or why the answer cannot be used. */
export type Reading = { ok: true; value: Score } | { ok: false; why: string };

/** Reads an answer that was asked for by schema: the whole text is the object, or it is not used. */
export function readStructured(text: string, finish: string): Reading {
  const early = unusable(text, finish);
  if (early !== null) return early;
  const value = parse(text);
  if (!isObject(value)) return { ok: false, why: "the answer is no JSON object" };
  if (typeof value.reasoning !== "string") return { ok: false, why: "the answer has no reasoning" };
  return scoreOf(value);
}

/**
 * Reads an answer in plain text: after any thinking, the last JSON object that has a score. Objects inside others do not
 * count: they are what the judge quotes.
 */
export function readPlain(text: string, finish: string): Reading {
  const early = unusable(text, finish);
  if (early !== null) return early;
  const thought = text.lastIndexOf("</think>");
  const said = thought === -1 ? text : text.slice(thought + "</think>".length);
  const last = outerObjects(said).findLast((value) => "score" in value);
  return last === undefined
    ? { ok: false, why: "the answer holds no JSON object with a score" }
    : scoreOf(last);
}

function unusable(text: string, finish: string): Reading | null {
  if (finish === "length") return { ok: false, why: "the answer was cut at the token limit" };
  if (finish === "content-filter") return { ok: false, why: "the judge refused to answer" };
  return text.trim() === "" ? { ok: false, why: "the answer is empty" } : null;
}

function scoreOf(value: Record<string, unknown>): Reading {
  const reasoning = typeof value.reasoning === "string" ? value.reasoning : "";
  const { score } = value;
  const number =
    typeof score === "string" && /^\s*\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(score) ? Number(score) : score;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    return { ok: false, why: `the score is no number: ${JSON.stringify(score) ?? "missing"}` };
  }
  if (number < 0 || number > 1) return { ok: false, why: `the score is not from 0 to 1: ${number}` };
  return { ok: true, value: { score: number, reasoning } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON objects in a text, outermost ones only, in order. */
function outerObjects(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let i = text.indexOf("{"); i !== -1; i = text.indexOf("{", i)) {
    const end = endOfObject(text, i);
    const value = end === null ? undefined : parse(text.slice(i, end));
    if (isObject(value)) found.push(value);
    i = isObject(value) && end !== null ? end : i + 1;
  }
  return found;
}

/** Where the object that begins at a brace ends, quotes considered; null where it does not. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i += 1) {
    const letter = text[i];
    if (quoted) {
      if (letter === "\\") i += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "{") depth += 1;
    else if (letter === "}") {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return null;
}
