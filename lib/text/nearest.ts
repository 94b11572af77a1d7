/** Edits between two words: insertions, deletions, replacements and swaps of neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}

/** The known name that is most like a mistyped one, or undefined where none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase().replaceAll("-", "_").slice(0, 100);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = distance(wanted, candidate.toLowerCase().replaceAll("-", "_"));
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best !== undefined && least <= Math.max(1, Math.floor(Math.max(wanted.length, best.length) / 3))
    ? best
    : undefined;
}

/** `, did you mean "x"?`, or nothing where no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const found = nearest(name, known);
  return found === undefined ? "" : `, did you mean "${found}"?`;
}
