/** How many Unicode code points a text has (a lone surrogate counts as one). */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i += 1) {
    if (isPairAt(text, i)) {
      count -= 1;
      i += 1;
    }
  }
  return count;
}

/** Whether a text has more than `limit` code points; costs nothing for texts short in UTF-16 units. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > limit * 2) return true;
  return countCodePoints(text) > limit;
}

/** The first `limit` code points. */
export function firstCodePoints(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let units = 0;
  for (let taken = 0; taken < limit && units < text.length; taken += 1)
    units += isPairAt(text, units) ? 2 : 1;
  return text.slice(0, units);
}

function isPairAt(text: string, i: number): boolean {
  const high = text.charCodeAt(i);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(i + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
