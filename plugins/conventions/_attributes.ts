import { parseJson } from "../../lib/text/json.ts";
import { pyJson } from "../../lib/text/python-json.ts";
import { attributeJson } from "../../lib/trace/parse-line.ts";
import type { AttributeValue, Span } from "../../lib/trace/span.ts";
import type { Json } from "../../lib/trace/trajectory.ts";

type Attributes = Span["attributes"];

/** A text attribute; null where there is none. */
export function textOf(value: AttributeValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** An attribute as text: texts as they are, anything else as JSON; null where there is none. */
export function anyText(value: AttributeValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : pyJson(attributeJson(value));
}

/** A count as Python's `int()` reads it: whole part of numbers, digits in texts, 1 for true, else 0. */
export function countOf(value: AttributeValue | undefined): number {
  if (typeof value === "number") return Number.isFinite(value) ? Math.trunc(value) : 0;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value)) return Number(value);
  return 0;
}

/** The first of several attributes that is there. */
export function firstOf(attributes: Attributes, names: readonly string[]): AttributeValue | undefined {
  for (const name of names)
    if (attributes[name] !== undefined && attributes[name] !== null) return attributes[name];
  return undefined;
}

/** JSON that may be a text or already a value; undefined where it is neither. */
export function jsonOf(value: AttributeValue | undefined): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") return attributeJson(value);
  try {
    const json = parseJson(value, { floats: true });
    return value.length > 2 * DEEPEST && isDeeper(json, DEEPEST) ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Levels of nesting that are read; what is deeper is a text to us, for whoever walks through it may not come back. */
const DEEPEST = 200;

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

export function isJsonObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !("rawJSON" in value);
}

/** What a model said, without its thinking, trimmed; null where nothing is left. */
export function spoken(parts: readonly string[]): string | null {
  const text = parts.join("\n");
  const thought = text.lastIndexOf("</think>");
  const said = (thought === -1 ? text : text.slice(thought + "</think>".length)).trim();
  return said === "" ? null : said;
}
