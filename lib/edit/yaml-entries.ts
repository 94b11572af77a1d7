import type { YAMLMap, YAMLSeq } from "yaml";
import { findCommentedOut } from "./yaml-commented.ts";
import { CannotEdit, type Splices } from "./yaml-context.ts";
import { isBlock, renderEntry, renderFlow, renderItem } from "./yaml-render.ts";
import { renderKey } from "./yaml-scalar.ts";
import type { EntryPlace, YamlSource } from "./yaml-source.ts";

/** A mapping or list of the text, with the places of its entries. */
export interface Shape {
  node: YAMLMap | YAMLSeq;
  places: readonly EntryPlace[];
  /** Written with `{}` or `[]`. */
  inFlow: boolean;
  /** Column of its keys or dashes. */
  column: number;
  step: number;
}

/** A new item of a list: the index of the old one that it comes after, -1 for the beginning. */
export interface NewItem {
  after: number;
  value: unknown;
}

/** Takes entries out, with the comment behind each on its line; not all of them. */
export function deleteEntries(
  source: YamlSource,
  splices: Splices,
  shape: Shape,
  dropped: readonly number[],
): void {
  const gone = new Set(dropped);
  const { places } = shape;
  for (let i = 0; i < places.length; i += 1) {
    if (!gone.has(i)) continue;
    let to = i;
    while (gone.has(to + 1)) to += 1;
    const { start } = places[i]!;
    const next = places[to + 1];
    if (shape.inFlow) deleteInFlow(source, splices, shape, i, to);
    else if (!source.isFirstInLine(start)) {
      // Behind a dash: what comes next moves up to it, unless a comment stands between.
      const below = source.afterLine(places[to]!.end);
      const commented = source.text.slice(below, next!.start).includes("#");
      splices.add(start, commented ? source.trimmedEnd(start, below) : next!.start, "");
    } else {
      for (let k = i; k <= to; k += 1)
        splices.add(source.lineStart(places[k]!.start), source.afterLine(places[k]!.end), "");
    }
    i = to;
  }
}

/** Takes entries out of `{}` or `[]`, on lines of their own with those lines; others keep their comments. */
function deleteInFlow(source: YamlSource, splices: Splices, shape: Shape, from: number, to: number): void {
  const { places, node } = shape;
  const close = node.range![1] - 1;
  const after = (k: number) => places[k + 1]?.start ?? close;
  const stop = (k: number) =>
    Math.max(places[k]!.end, commaBetween(source.text, places[k]!.end, after(k)) + 1);
  const ownLines = places
    .slice(from, to + 1)
    .every(
      ({ start }, k) => source.isFirstInLine(start) && !source.sameLine(stop(from + k), after(from + k)),
    );
  const { start } = places[from]!;
  if (ownLines) {
    for (let k = from; k <= to; k += 1)
      splices.add(source.lineStart(places[k]!.start), source.afterLine(stop(k)), "");
  } else if (to + 1 < places.length) {
    const below = source.afterLine(stop(to));
    const apart = below <= after(to) && source.text.slice(below, after(to)).includes("#");
    splices.add(start, apart ? source.trimmedEnd(start, below) : after(to), "");
  } else {
    const before = places[from - 1]!.end;
    const commented = source.text.slice(before, start).includes("#");
    splices.add(commented ? start : before, commented ? stop(to) : places[to]!.end, "");
  }
}

interface MapShape extends Shape {
  dropped: readonly number[];
  /** Where the mapping's lines begin, with comments before its first key. */
  from: number;
  /** Own keys that stay. */
  keys: readonly string[];
}

/**
 * Adds keys to a mapping: on their commented-out line, else before the key that is to follow, else at its end.
 *
 * @param shape the mapping, or null where the file has none yet
 * @param end where its end is, and how far in its keys stand
 * @param order all keys in the order they are to have
 */
export function insertIntoMap(
  source: YamlSource,
  splices: Splices,
  shape: MapShape | null,
  end: { at: number; column: number; step: number },
  added: readonly (readonly [string, unknown])[],
  order: readonly string[] = [],
): void {
  if (shape?.inFlow === true) {
    const texts = added.map(([key, value]) => `${renderKey(key, true)}: ${renderFlow(value)}`);
    appendInFlow(source, splices, shape, shape.dropped, texts);
    return;
  }
  const staying = new Set(shape?.keys);
  for (const [key, value] of added) {
    const commented =
      shape === null || isBlock(value)
        ? null
        : findCommentedOut(source, key, {
            from: shape.from,
            to: end.at,
            column: end.column,
            entries: shape.places,
          });
    if (commented !== null) {
      splices.add(commented.start, commented.end, `${renderKey(key)}: ${renderFlow(value, false)}`);
      continue;
    }
    const lines = renderEntry(key, value, end.column, end.step);
    const follower =
      order.includes(key) && order.slice(order.indexOf(key) + 1).some((other) => staying.has(other));
    const before = follower ? previousKept(order, key, staying) : undefined;
    if (shape === null || !follower) splices.add(end.at, end.at, source.lines(lines, end.at));
    else
      insertAfterEntry(source, splices, shape, before === undefined ? -1 : indexOfKey(shape, before), lines);
  }
}

function previousKept(
  order: readonly string[],
  key: string,
  staying: ReadonlySet<string>,
): string | undefined {
  return order.slice(0, order.indexOf(key)).findLast((other) => staying.has(other));
}

function indexOfKey(shape: Shape, key: string): number {
  return (shape.node as YAMLMap).items.findIndex(
    (pair) => String((pair.key as { value?: unknown })?.value) === key,
  );
}

/** Lines behind an entry, or before the first one. */
function insertAfterEntry(
  source: YamlSource,
  splices: Splices,
  shape: Shape,
  index: number,
  lines: readonly string[],
): void {
  const place = shape.places[index];
  if (place !== undefined) {
    // Comments that stand further in are the entry's own.
    const at = source.pastComments(source.afterLine(place.end), shape.column + 1);
    splices.add(at, at, source.lines(lines, at));
    return;
  }
  const { start } = shape.places[0]!;
  if (source.isFirstInLine(start)) {
    const at = source.lineStart(start);
    splices.add(at, at, source.lines(lines, at));
    return;
  }
  const eol = source.eolAt(start);
  splices.add(start, start, `${lines.join(eol).trimStart()}${eol}${" ".repeat(shape.column)}`);
}

/** Adds items to a list, each behind the old one that it comes after. */
export function insertIntoList(
  source: YamlSource,
  splices: Splices,
  shape: Shape & { dropped: readonly number[] },
  added: readonly NewItem[],
  end: number,
): void {
  const lastIndex = shape.places.length - 1;
  if (shape.inFlow) {
    const atEnd = added.filter(({ after }) => after === lastIndex);
    for (const { after, value } of added) {
      const text = renderFlow(value);
      if (after === -1) splices.add(shape.places[0]!.start, shape.places[0]!.start, `${text}, `);
      else if (after < lastIndex)
        splices.add(shape.places[after]!.end, shape.places[after]!.end, `, ${text}`);
    }
    if (atEnd.length > 0 && lastIndex >= 0)
      appendInFlow(
        source,
        splices,
        shape,
        shape.dropped,
        atEnd.map(({ value }) => renderFlow(value)),
      );
    return;
  }
  for (const { after, value } of added) {
    const lines = renderItem(value, shape.column, shape.step);
    if (after === lastIndex) splices.add(end, end, source.lines(lines, end));
    else insertAfterEntry(source, splices, shape, after, lines);
  }
}

/** Entries at the end of `{}` or `[]`: on lines of their own where the last one is, with a comma at the end where it has one. */
function appendInFlow(
  source: YamlSource,
  splices: Splices,
  shape: Shape,
  dropped: readonly number[],
  texts: readonly string[],
): void {
  const { node, places } = shape;
  const last = places[places.length - 1];
  const [open, close] = [node.range![0], node.range![1] - 1];
  if (last === undefined) {
    splices.add(open + 1, open + 1, texts.join(", "));
    return;
  }
  if (dropped.includes(places.length - 1)) {
    const kept = places.findLast((_, i) => !dropped.includes(i));
    if (kept === undefined) throw new CannotEdit("All that is between the brackets would be another", open);
    splices.add(kept.end, kept.end, texts.map((text) => `, ${text}`).join(""));
    return;
  }
  const comma = commaBetween(source.text, last.end, close);
  const ownLine = source.isFirstInLine(last.start) && !source.sameLine(last.end, close);
  if (!ownLine) {
    splices.add(last.end, last.end, texts.map((text) => `, ${text}`).join(""));
    return;
  }
  const pad = " ".repeat(source.column(last.start));
  const at = source.afterLine(Math.max(last.end, comma));
  if (comma === -1) splices.add(last.end, last.end, ",");
  const lines = texts.map((text, i) => `${pad}${text}${comma !== -1 || i < texts.length - 1 ? "," : ""}`);
  splices.add(at, at, source.lines(lines, at));
}

/** The comma between an offset and the closing bracket, comments passed over; -1 where there is none. */
function commaBetween(text: string, from: number, to: number): number {
  for (let i = from; i < to; i += 1) {
    if (text[i] === ",") return i;
    if (text[i] === "#") {
      const end = text.indexOf("\n", i);
      i = end === -1 ? to : end;
    }
  }
  return -1;
}
