import type { EntryPlace, YamlSource } from "./yaml-source.ts";

/** A line that holds a key in a comment: what it takes to put the key there. */
export interface CommentedOut {
  /** From the `#` to just before the comment behind the value, or the end of the line. */
  start: number;
  end: number;
}

/** A scalar of one word, or in quotes: a comment with more words is prose, not a setting. */
const SCALAR = String.raw`("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{}>|&*!%@,][^\s]*)`;

/**
 * The first comment line of a section that is a key with a scalar, commented out (`# key: value   # note`), at the
 * section's own depth.
 *
 * @param from start of the section's lines, `to` their end
 * @param column where keys of the section stand
 * @param entries what is in the section: comments inside these belong to them
 */
export function findCommentedOut(
  source: YamlSource,
  key: string,
  section: { from: number; to: number; column: number; entries: readonly EntryPlace[] },
): CommentedOut | null {
  const { from, to, column, entries } = section;
  const name = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const form = new RegExp(
    String.raw`^([ \t]*)#[ \t]*["']?${name}["']?[ \t]*:[ \t]+${SCALAR}([ \t]+#.*)?[ \t]*$`,
  );
  let at = source.isFirstInLine(from) ? source.lineStart(from) : source.afterLine(from);
  while (at < to) {
    const next = source.text.indexOf("\n", at);
    const end = next === -1 ? source.text.length : next;
    const line = source.text.slice(at, end).replace(/\r$/, "");
    const found = form.exec(line);
    if (found !== null && found[1]!.length === column && !entries.some((e) => e.start < at && at < e.end)) {
      return { start: at + column, end: at + line.length - (found[3]?.length ?? 0) };
    }
    at = end + 1;
  }
  return null;
}
