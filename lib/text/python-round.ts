/** A share in percent with one decimal, rounded as Python rounds. */
export function percentage(part: number, whole: number): number {
  return whole === 0 ? 0 : roundHalfEven((part / whole) * 100, 1);
}

/** Python's `round(value, digits)`: correctly rounded from the exact binary value, ties to even. */
export function roundHalfEven(value: number, digits: number): number {
  // The exact decimal expansion of a double ends; ties are seen on it and not on a product that was rounded itself.
  const exact = value.toFixed(Math.min(100, digits + 60));
  const cut = exact.indexOf(".") + 1 + digits;
  const rest = exact.slice(cut);
  const tie = /^50*$/.test(rest);
  if (!tie) return Number(value.toFixed(digits));
  const kept = exact.slice(0, cut);
  const lastDigit = Number(kept.replace(/\.$/, "").slice(-1));
  const step = 10 ** -digits * Math.sign(value);
  return lastDigit % 2 === 0 ? Number(kept) : Number((Number(kept) + step).toFixed(digits));
}
