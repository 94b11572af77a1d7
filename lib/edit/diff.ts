import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";

/** Beyond so many differing lines a change is shown as one block: to find the best way saves no reader anything. */
const MOST_EDITS = 4_000;

/**
 * The difference of two texts as a unified diff that `patch` and `git apply` take; empty for equal texts.
 *
 * @param before null for a file that is new
 */
export function unifiedDiff(file: string, before: string | null, after: string): string {
  if (before === after) return "";
  const names = [before === null ? "/dev/null" : `a/${file}`, `b/${file}`] as const;
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const patch = structuredPatch(...names, before ?? "", after, undefined, undefined, options);
  return formatPatch(patch ?? oneBlock(names, before ?? "", after), FILE_HEADERS_ONLY);
}

function oneBlock(names: readonly [string, string], before: string, after: string): StructuredPatch {
  const lines = (sign: string, text: string) =>
    (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).flatMap((line) =>
      line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, "\\ No newline at end of file"],
    );
  const count = (all: readonly string[]) => all.filter((line) => !line.startsWith("\\")).length;
  const [olds, news] = [lines("-", before), lines("+", after)];
  return {
    oldFileName: names[0],
    newFileName: names[1],
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      { oldStart: 1, oldLines: count(olds), newStart: 1, newLines: count(news), lines: [...olds, ...news] },
    ],
  };
}
