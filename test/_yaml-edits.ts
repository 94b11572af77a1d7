/** What edits of generated YAML are held against. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "yaml";
import { YamlText } from "../lib/edit/yaml-edit.ts";
import { type GeneratedYaml, isWithin, type Place, type PlacedEntry } from "./_yaml-lines.ts";

/** What yaml's own reader makes of a text: a plain copy without shared parts. */
export function meaning(text: string): unknown {
  return JSON.parse(JSON.stringify(parse(text, { merge: true }) ?? null));
}

export function holderOf(value: unknown, place: Place): Record<string | number, unknown> {
  let at = value;
  for (const part of place.slice(0, -1)) at = (at as Record<string | number, unknown>)[part];
  return at as Record<string | number, unknown>;
}

export function withSet(value: unknown, place: Place, item: unknown): unknown {
  const copy = structuredClone(value);
  const plain = JSON.parse(JSON.stringify(item)) as unknown;
  Object.defineProperty(holderOf(copy, place), place[place.length - 1]!, {
    value: plain,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
}

export function withDeleted(value: unknown, place: Place): unknown {
  const copy = structuredClone(value);
  const holder = holderOf(copy, place);
  const part = place[place.length - 1]!;
  if (Array.isArray(holder)) holder.splice(part as number, 1);
  else delete holder[part];
  return copy;
}

export function linesOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** Whether lines stand in others in that order, with others between. */
function isInOrder(wanted: readonly string[], lines: readonly string[]): boolean {
  let i = 0;
  for (const line of lines) if (line === wanted[i]) i += 1;
  return i === wanted.length;
}

/** Whether an alias or merge key may have to be written anew for what is edited. */
export function isShared(file: GeneratedYaml, place: Place): boolean {
  return file.anchors.some((anchor) => isWithin(place, anchor) || isWithin(anchor, place));
}

/** Places whose lines an edit may touch besides the meant one. */
export function aliasesTouched(file: GeneratedYaml, place: Place): Place[] {
  if (!isShared(file, place)) return [];
  return file.entries.filter(({ kind }) => kind === "alias").map((entry) => entry.place);
}

export function othersStay(
  file: GeneratedYaml,
  after: string,
  places: readonly Place[],
  shown = (line: string) => line,
): void {
  const staying = file.lines.filter(({ owner }) => !places.some((place) => isWithin(owner, place)));
  const wanted = staying.map(({ text }) => shown(text)).filter((line) => line !== "");
  assert.ok(
    isInOrder(wanted, linesOf(after).map(shown)),
    `lines that were not meant differ:
${file.text}
=>
${after}`,
  );
}

export function lineEndsStay(file: GeneratedYaml, after: string): void {
  if (!file.text.includes("\n")) return;
  if (file.eol === "\n") assert.ok(!after.includes("\r"), "no CRLF comes in");
  else assert.doesNotMatch(after, /(?<!\r)\n/, "no LF comes in");
  assert.equal(after.startsWith("\ufeff"), file.text.startsWith("\ufeff"));
}

/** What a merge key elsewhere still needs is not taken away, nor all there is in a file. */
const NEEDED =
  /comes in through "<<"|brings in here (?:would be gone|must stay a mapping)|whole file would be another/;
/** A comment further in may become content of a block scalar once what stood between is gone. */
const SWALLOWED = /would change more than was meant/;

export function edited(text: string, edit: (yaml: YamlText) => void): string {
  const yaml = new YamlText(text, { file: "x.yaml" });
  edit(yaml);
  return yaml.toString();
}

/** The same with some items and keys changed, gone, new or elsewhere. */
export function shuffled(value: unknown, next: () => number): unknown {
  if (Array.isArray(value)) {
    const items = value.filter(() => next() > 20).map((item) => shuffled(item, next));
    if (next() > 60) items.splice(next() % (items.length + 1), 0, { name: "new", n: next() });
    return next() > 70 ? items.reverse() : items;
  }
  if (typeof value !== "object" || value === null) return next() > 80 ? next() : value;
  const entries = Object.entries(value).filter(() => next() > 10);
  if (next() > 60) entries.splice(next() % (entries.length + 1), 0, [`new_${next() % 4}`, ["x", next()]]);
  return Object.fromEntries(entries.map(([key, item]) => [key, shuffled(item, next)]));
}

export function editedUnlessNeeded(
  text: string,
  edit: (yaml: YamlText) => void,
  yaml = new YamlText(text, { file: "x.yaml" }),
): string | null {
  try {
    edit(yaml);
    return yaml.toString();
  } catch (error) {
    const { message } = error as Error;
    const swallowed = SWALLOWED.test(message) && /[|>][-+]?(?:\s|$)/m.test(text);
    if (!swallowed && !NEEDED.test(message)) throw error;
    return null;
  }
}

export function pick(file: GeneratedYaml, n: number, fits: (entry: PlacedEntry) => boolean): PlacedEntry {
  const found = file.entries.filter(fits);
  fc.pre(found.length > 0);
  return found[n % found.length]!;
}
