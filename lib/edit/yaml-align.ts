import { type Alignment, alignItems } from "./align.ts";
import { bare, isMapping } from "./yaml-render.ts";
import { sameValue } from "./yaml-value.ts";

/**
 * Pairs the items of a list of a file with those that it is to have: equal ones, then those with the same `name` or
 * `id`, then by place. Items that differ because they were set by their index stay where they are, whatever their name
 * is now.
 */
export function alignValues(
  before: readonly unknown[],
  value: readonly unknown[],
  wasSet: (index: number) => boolean,
): Alignment[] {
  const byPlace =
    value.length >= before.length && before.every((item, i) => wasSet(i) || sameValue(item, value[i]));
  if (!byPlace) return alignItems(before, value, sameValue, identity);
  return value.map((_, i) =>
    i < before.length ? { kind: "keep", old: i, next: i } : { kind: "add", next: i },
  );
}

/** The name by which an item of a list is known among the others. */
function identity(item: unknown): string | null {
  const plain = bare(item);
  if (!isMapping(plain)) return null;
  const name = plain.name ?? plain.id;
  return typeof name === "string" ? name : null;
}
