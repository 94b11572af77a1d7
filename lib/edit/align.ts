/** What becomes of a list's items: an old one that stays (perhaps changed), goes, or a new one that comes. */
export type Alignment =
  | { kind: "keep"; old: number; next: number }
  | { kind: "drop"; old: number }
  | { kind: "add"; next: number };

/**
 * Pairs the items of a list with those that it is to have, so that as many as possible stay where they are: equal ones
 * first, then those with the same name, then by place.
 *
 * @param same whether an old item (by index) equals a new one
 * @param identity a name that an item has among its like, or null
 */
export function alignItems(
  oldItems: readonly unknown[],
  newItems: readonly unknown[],
  same: (a: unknown, b: unknown) => boolean,
  identity: (item: unknown) => string | null,
): Alignment[] {
  const result: Alignment[] = [];
  const whole = { oldFrom: 0, oldTo: oldItems.length, newFrom: 0, newTo: newItems.length };
  const equal = matches(whole, (i, j) => same(oldItems[i], newItems[j]));
  for (const gap of gapsBetween(equal, whole)) {
    const named = matches(gap, (i, j) => {
      const name = identity(oldItems[i]);
      return name !== null && name === identity(newItems[j]);
    });
    for (const inner of gapsBetween(named, gap)) {
      result.push(
        ...byPlace(inner, (i, j) => identity(oldItems[i]) === null || identity(newItems[j]) === null),
      );
      if (inner.match !== null) result.push(inner.match);
    }
    if (gap.match !== null) result.push(gap.match);
  }
  return result;
}

interface Range {
  oldFrom: number;
  oldTo: number;
  newFrom: number;
  newTo: number;
}

type Match = Extract<Alignment, { kind: "keep" }>;

/** Longest run of pairs in order; equal beginnings and ends are taken first, for they are most of it. */
function matches(range: Range, same: (i: number, j: number) => boolean): Match[] {
  let { oldFrom, oldTo, newFrom, newTo } = range;
  const head: Match[] = [];
  const tail: Match[] = [];
  while (oldFrom < oldTo && newFrom < newTo && same(oldFrom, newFrom))
    head.push({ kind: "keep", old: oldFrom++, next: newFrom++ });
  while (oldFrom < oldTo && newFrom < newTo && same(oldTo - 1, newTo - 1))
    tail.unshift({ kind: "keep", old: --oldTo, next: --newTo });
  return [...head, ...longest({ oldFrom, oldTo, newFrom, newTo }, same), ...tail];
}

function longest(
  { oldFrom, oldTo, newFrom, newTo }: Range,
  same: (i: number, j: number) => boolean,
): Match[] {
  const rows = oldTo - oldFrom;
  const columns = newTo - newFrom;
  if (rows === 0 || columns === 0) return [];
  const length = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      length[i]![j] = same(oldFrom + i, newFrom + j)
        ? length[i + 1]![j + 1]! + 1
        : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
    }
  }
  const found: Match[] = [];
  let i = 0;
  let j = 0;
  while (i < rows && j < columns) {
    if (same(oldFrom + i, newFrom + j)) found.push({ kind: "keep", old: oldFrom + i++, next: newFrom + j++ });
    else if (length[i + 1]![j]! >= length[i]![j + 1]!) i += 1;
    else j += 1;
  }
  return found;
}

/** What lies between matches, each with the match that ends it. */
function gapsBetween(found: readonly Match[], range: Range): (Range & { match: Match | null })[] {
  let { oldFrom, newFrom } = range;
  const gaps: (Range & { match: Match | null })[] = [];
  for (const match of found) {
    gaps.push({ oldFrom, oldTo: match.old, newFrom, newTo: match.next, match });
    oldFrom = match.old + 1;
    newFrom = match.next + 1;
  }
  gaps.push({ oldFrom, oldTo: range.oldTo, newFrom, newTo: range.newTo, match: null });
  return gaps;
}

function byPlace(range: Range, fit: (i: number, j: number) => boolean): Alignment[] {
  const result: Alignment[] = [];
  let j = range.newFrom;
  for (let i = range.oldFrom; i < range.oldTo; i += 1) {
    if (j < range.newTo && fit(i, j)) result.push({ kind: "keep", old: i, next: j++ });
    else result.push({ kind: "drop", old: i });
  }
  while (j < range.newTo) result.push({ kind: "add", next: j++ });
  return result;
}
