/** How many lines of context stand around a change. */
const CONTEXT = 3;
/** Beyond so many differing lines a change is shown as one block: it saves no reader anything to find the best way. */
const MOST_EDITS = 2_000;

type Edit = { kind: "same" | "old" | "new"; text: string };

/**
 * The difference of two texts as a unified diff that `patch` and `git apply` take; empty for equal texts.
 *
 * @param before null for a file that is new
 */
export function unifiedDiff(file: string, before: string | null, after: string): string {
  if (before === after) return "";
  const edits = editsOf(splitLines(before ?? ""), splitLines(after));
  const hunks = hunksOf(edits);
  return [`--- ${before === null ? "/dev/null" : `a/${file}`}`, `+++ b/${file}`, ...hunks, ""].join("\n");
}

/** Lines with their ends. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function editsOf(a: readonly string[], b: readonly string[]): Edit[] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const same = (lines: readonly string[]): Edit[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, from)),
    ...shortest(a.slice(from, endA), b.slice(from, endB)),
    ...same(a.slice(endA)),
  ];
}

/** The shortest way from one list of lines to the other, after Myers (1986). */
function shortest(a: readonly string[], b: readonly string[]): Edit[] {
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, MOST_EDITS); edits += 1) {
    trace.push(new Map(furthest));
    const next = new Map(furthest);
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (next.get(k - 1) ?? -1) < (next.get(k + 1) ?? -1));
      let x = down ? (next.get(k + 1) ?? 0) : (next.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backwards(a, b, trace);
    }
    furthest = next;
  }
  return [
    ...a.map((text): Edit => ({ kind: "old", text })),
    ...b.map((text): Edit => ({ kind: "new", text })),
  ];
}

function backwards(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Map<number, number>[],
): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const furthest = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const beforeX = d === 0 ? 0 : (furthest.get(before) ?? 0);
    const beforeY = d === 0 ? 0 : beforeX - before;
    while (x > beforeX && y > beforeY) {
      x -= 1;
      y -= 1;
      edits.push({ kind: "same", text: a[x]! });
    }
    if (d === 0) break;
    if (down) {
      y -= 1;
      edits.push({ kind: "new", text: b[y]! });
    } else {
      x -= 1;
      edits.push({ kind: "old", text: a[x]! });
    }
  }
  return edits.reverse();
}

function hunksOf(edits: readonly Edit[]): string[] {
  const out: string[] = [];
  const changed = edits.flatMap(({ kind }, i) => (kind === "same" ? [] : [i]));
  let oldLine = 1;
  let newLine = 1;
  let at = 0;
  for (let c = 0; c < changed.length; ) {
    const first = Math.max(changed[c]! - CONTEXT, at);
    let last = changed[c]!;
    while (c < changed.length && changed[c]! - last <= 2 * CONTEXT) last = changed[c++]!;
    oldLine += first - at;
    newLine += first - at;
    const end = Math.min(last + CONTEXT + 1, edits.length);
    const hunk = edits.slice(first, end);
    const olds = hunk.filter(({ kind }) => kind !== "new").length;
    const news = hunk.filter(({ kind }) => kind !== "old").length;
    out.push(`@@ -${span(oldLine, olds)} +${span(newLine, news)} @@`, ...hunk.flatMap(shown));
    oldLine += olds;
    newLine += news;
    at = end;
  }
  return out;
}

function span(line: number, count: number): string {
  return count === 1 ? String(line) : `${count === 0 ? line - 1 : line},${count}`;
}

function shown({ kind, text }: Edit): string[] {
  const sign = kind === "same" ? " " : kind === "old" ? "-" : "+";
  return text.endsWith("\n") ? [sign + text.slice(0, -1)] : [sign + text, "\\ No newline at end of file"];
}
