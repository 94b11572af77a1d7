import type { Json } from "../trace/trajectory.ts";

/** A number whose source text says more than a JavaScript number can: `12345678901234567890`, `1.0`. */
export interface RawNumber {
  readonly rawJSON: string;
}

// TypeScript's library does not know these yet; Node has them from 22 on.
const rawJson = (JSON as unknown as { rawJSON(text: string): RawNumber }).rawJSON;
const isRawJson = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON;

export function isRawNumber(value: unknown): value is RawNumber {
  return typeof value === "object" && value !== null && isRawJson(value);
}

/**
 * Parses JSON and keeps the source text of numbers that would lose something: integers beyond 2^53, and with `floats`
 * also floats that JavaScript would write as integers (`1.0`, `1e5`). `JSON.stringify` writes them back as they were.
 */
export function parseJson(text: string, { floats = false } = {}): Json {
  // Numbers that lose something are rare: a text without a suspicious one is parsed at full speed.
  const suspicious = floats ? /\d{16}|\d\.0|[\d.][eE]/ : /\d{16}/;
  if (!suspicious.test(text)) return JSON.parse(text) as Json;
  const revive = (_key: string, value: unknown, context: { source?: string }): unknown => {
    if (typeof value !== "number" || context.source === undefined) return value;
    const integer = /^-?\d+$/.test(context.source);
    const loses = integer ? !Number.isSafeInteger(value) : floats && Number.isInteger(value);
    return loses ? rawJson(context.source) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as Json;
}

/** The value of a number that may have kept its source text; integers beyond 2^53 as bigint. */
export function numericValue(value: number | RawNumber): number | bigint {
  if (typeof value === "number") return value;
  return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
}
