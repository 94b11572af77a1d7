import { BatError } from "../errors.ts";

/** A value that YAML writes on one line. */
export type YamlScalar = string | number | boolean | null;

/** Words that some reader of YAML (1.1 or 1.2, Python, Go) takes for a truth value or for nothing. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan)$/i;
/** Whatever any reader could take for a number, a time or a date. */
const NUMBER_LIKE = /^[-+]?[0-9.][0-9a-fA-FxXoO_.,:+-]*$/;
const DATE_LIKE = /^\d{4}-\d\d?-\d\d?(?:[Tt \t]|$)/;
const FIRST = /^(?:[\p{L}\p{N}_/$(]|\.{1,2}\/|\.[\p{L}_])/u;
const REST = /^[\p{L}\p{N}\p{M}\p{S}_ ./:@$(){}[\]+~^=;?!*&%,#<>|\\-]*$/u;

/**
 * Whether a text means itself when it is written without quotes, to every reader: those of YAML 1.1 (Python, Kubernetes)
 * and of 1.2.
 *
 * @param inFlow written between `{}` or `[]`
 */
export function isPlainSafe(text: string, inFlow = false): boolean {
  if (WORDS.test(text) || NUMBER_LIKE.test(text) || DATE_LIKE.test(text)) return false;
  if (!FIRST.test(text) || !REST.test(text) || text.endsWith(" ")) return false;
  if (/:(?: |$)| #/.test(text)) return false;
  return !inFlow || !/[,[\]{}:]/.test(text);
}

/** The scalar as YAML that every reader reads as this value; a text is quoted where one could read something else. */
export function renderScalar(value: YamlScalar, inFlow = false): string {
  if (typeof value === "string") return isPlainSafe(value, inFlow) ? value : quoted(value);
  if (typeof value === "number") return renderNumber(value);
  return String(value);
}

/** A key; one that is longer than readers accept is refused (BatError, code `config`). */
export function renderKey(key: string, inFlow = false): string {
  if (key.length > 1000) {
    throw new BatError(
      "config",
      `A key of YAML can have at most 1000 characters, "${key.slice(0, 40)}…" has ${key.length}`,
    );
  }
  return renderScalar(key, inFlow);
}

/** JSON's quoting is YAML's too, but for characters that YAML breaks lines at or does not print. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Python takes `1e+21` for a text: an exponent needs a fraction before it. */
function renderNumber(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return /^-?\d+e/.test(text) ? text.replace("e", ".0e") : text;
}
