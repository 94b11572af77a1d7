import { renderKey, renderScalar, type YamlScalar } from "./yaml-scalar.ts";

/** A value and how it is to be written: with comments of its own, or as a very text. Elsewhere it counts as its value. */
export class Written {
  readonly value: unknown;
  /** Lines for above it, without `#`. */
  readonly above: readonly string[];
  /** Lines for below it, one step further in, without `#`. */
  readonly below: readonly string[];
  /** YAML of one line that means the value. */
  readonly text: string | undefined;

  constructor(
    value: unknown,
    how: { above?: readonly string[]; below?: readonly string[]; text?: string | undefined },
  ) {
    this.value = value;
    this.above = how.above ?? [];
    this.below = how.below ?? [];
    this.text = how.text;
  }
}

/** Whether a value is a mapping: not a list, not a scalar. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Written);
}

/** The value without the comments that it brings. */
export function bare(value: unknown): unknown {
  return value instanceof Written ? bare(value.value) : value;
}

/** Whether a value takes lines of its own in block style. */
export function isBlock(value: unknown): boolean {
  const plain = bare(value);
  return Array.isArray(plain) ? plain.length > 0 : isMapping(plain) && Object.keys(plain).length > 0;
}

/** A value on one line: scalars, and collections in flow style. */
export function renderFlow(value: unknown, inFlow = true): string {
  if (value instanceof Written && value.text !== undefined) return value.text;
  const plain = bare(value);
  if (Array.isArray(plain)) return `[${plain.map((item) => renderFlow(item)).join(", ")}]`;
  if (isMapping(plain)) {
    const entries = Object.entries(plain).map(
      ([key, item]) => `${renderKey(key, true)}: ${renderFlow(item)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  return renderScalar(plain as YamlScalar, inFlow);
}

/**
 * Lines of `key: value` in block style.
 *
 * @param indent blanks before the key
 * @param step blanks that each level goes in by
 */
export function renderEntry(key: string, value: unknown, indent: number, step: number): string[] {
  const pad = " ".repeat(indent);
  const name = `${pad}${renderKey(key)}:`;
  const lines = isBlock(value)
    ? [name, ...renderBlock(value, indent + step, step)]
    : [`${name} ${renderFlow(value, false)}`];
  return withComments(value, lines, indent, step);
}

/** Lines of `- value` in block style. */
export function renderItem(value: unknown, indent: number, step: number): string[] {
  const pad = " ".repeat(indent);
  const lines = isBlock(value) ? renderBlock(value, indent + 2, step) : [renderFlow(value, false)];
  const first = `${pad}- ${lines[0]!.trimStart()}`;
  return withComments(value, [first, ...lines.slice(1)], indent, step);
}

/** Lines of a mapping or list that is not empty. */
export function renderBlock(value: unknown, indent: number, step: number): string[] {
  const plain = bare(value);
  if (Array.isArray(plain)) return plain.flatMap((item) => renderItem(item, indent, step));
  return Object.entries(plain as Record<string, unknown>).flatMap(([key, item]) =>
    renderEntry(key, item, indent, step),
  );
}

function withComments(value: unknown, lines: string[], indent: number, step: number): string[] {
  if (!(value instanceof Written)) return lines;
  const comment = (pad: number) => (line: string) => `${" ".repeat(pad)}#${line === "" ? "" : ` ${line}`}`;
  return [...value.above.map(comment(indent)), ...lines, ...value.below.map(comment(indent + step))];
}
