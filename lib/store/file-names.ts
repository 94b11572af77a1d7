import { digestOf } from "./atomic.ts";

const LONGEST = 180;

/** A text as part of a file name: characters outside letters, digits, `_ . -` become `_`. */
export function safeName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_.-]/gu, "_");
  return name === "" || /^\.+$/.test(name) ? `_${name.slice(1)}` : name;
}

/**
 * A file name for each id, in order, all different also where case does not count. An id whose name is taken already,
 * or too long for a file system, gets a part of its digest added.
 */
export function fileNames(ids: readonly string[]): string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const name = safeName(id);
    const fits = name.length <= LONGEST && !taken.has(name.toLowerCase());
    const unique = fits ? name : freeName(name, id, taken);
    taken.add(unique.toLowerCase());
    return unique;
  });
}

function freeName(name: string, id: string, taken: ReadonlySet<string>): string {
  const digest = digestOf(id);
  for (let length = 8; length <= digest.length; length += 8) {
    const candidate = `${name.slice(0, LONGEST)}-${digest.slice(0, length)}`;
    if (!taken.has(candidate.toLowerCase())) return candidate;
  }
  throw new RangeError(`No file name left for "${id}"`);
}
