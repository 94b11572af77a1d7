import type { Json } from "../trace/trajectory.ts";
import { isRawNumber } from "./json.ts";

/**
 * Writes a value as Python's `json.dumps(value, ensure_ascii=False)` does: a blank after `,` and `:`, floats by `repr`,
 * only control characters, `"` and `\` escaped.
 */
export function pyJson(value: Json): string {
  if (value === null) return "null";
  if (isRawNumber(value)) return pyNumberText(value.rawJSON);
  switch (typeof value) {
    case "string":
      return pyString(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      return Number.isInteger(value) && Math.abs(value) < 2 ** 53 ? String(value) : pyFloat(value);
    default:
      break;
  }
  if (Array.isArray(value)) return `[${value.map(pyJson).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${pyString(key)}: ${pyJson(item)}`)
    .join(", ")}}`;
}

function pyNumberText(source: string): string {
  return /^-?\d+$/.test(source) ? BigInt(source).toString() : pyFloat(Number(source));
}

/** Python's `repr` of a float. */
export function pyFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? "-" : "+";
    return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const negative = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (exponent < 0) return `${negative}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${negative}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

const ESCAPES: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

function pyString(text: string): string {
  const escaped = text.replace(
    /["\\\u0000-\u001f]/g,
    (found) => ESCAPES[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${escaped}"`;
}
