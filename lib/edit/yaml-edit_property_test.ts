import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import {
  type GeneratedYaml,
  isWithin,
  type Place,
  type PlacedEntry,
  yamlFrom,
} from "../../test/_yaml-lines.ts";
import { YamlText } from "./yaml-edit.ts";

const RUNS = 400;

const choices = fc.array(fc.nat(999), { maxLength: 250, size: "max" });
const scalars = fc.oneof(
  fc.constantFrom(
    "new",
    "yes",
    "1.0",
    "0x1F",
    "a: b",
    "# x",
    "",
    " blank ",
    "two\nlines",
    "a\r\nb",
    "é 日本 \u2028",
    "- x",
    "<<",
    "*a",
    "~",
    "{}",
  ),
  fc.constantFrom(0, -1.5, 1e21, true, false, null),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constant("long ".repeat(50)),
);
const values = fc.oneof(
  { weight: 3, arbitrary: scalars },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({ p: 1, q: ["r", { s: "no" }] }, ["a", "b"], {}, []) },
);

/** What yaml's own reader makes of a text: a plain copy without shared parts. */
function meaning(text: string): unknown {
  return JSON.parse(JSON.stringify(parse(text, { merge: true }) ?? null));
}

function holderOf(value: unknown, place: Place): Record<string | number, unknown> {
  let at = value;
  for (const part of place.slice(0, -1)) at = (at as Record<string | number, unknown>)[part];
  return at as Record<string | number, unknown>;
}

function withSet(value: unknown, place: Place, item: unknown): unknown {
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

function withDeleted(value: unknown, place: Place): unknown {
  const copy = structuredClone(value);
  const holder = holderOf(copy, place);
  const part = place[place.length - 1]!;
  if (Array.isArray(holder)) holder.splice(part as number, 1);
  else delete holder[part];
  return copy;
}

function linesOf(text: string): string[] {
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
function isShared(file: GeneratedYaml, place: Place): boolean {
  return file.anchors.some((anchor) => isWithin(place, anchor) || isWithin(anchor, place));
}

/** Places whose lines an edit may touch besides the meant one. */
function aliasesTouched(file: GeneratedYaml, place: Place): Place[] {
  if (!isShared(file, place)) return [];
  return file.entries.filter(({ kind }) => kind === "alias").map((entry) => entry.place);
}

function othersStay(
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

function lineEndsStay(file: GeneratedYaml, after: string): void {
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

function edited(text: string, edit: (yaml: YamlText) => void): string {
  const yaml = new YamlText(text, { file: "x.yaml" });
  edit(yaml);
  return yaml.toString();
}

/** The same with some items and keys changed, gone, new or elsewhere. */
function shuffled(value: unknown, next: () => number): unknown {
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

function editedUnlessNeeded(
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

function pick(file: GeneratedYaml, n: number, fits: (entry: PlacedEntry) => boolean): PlacedEntry {
  const found = file.entries.filter(fits);
  fc.pre(found.length > 0);
  return found[n % found.length]!;
}

describe("Edits of generated files", () => {
  test("a file that is not edited stays byte for byte", () => {
    fc.assert(
      fc.property(choices, (tape) => {
        const { text } = yamlFrom(tape);
        const yaml = new YamlText(text, { file: "x.yaml" });
        assert.deepEqual(yaml.value, meaning(text));
        yaml.update(yaml.value);
        assert.equal(yaml.toString(), text);
      }),
      { numRuns: RUNS },
    );
  });

  test("setting a value changes its lines only", () => {
    fc.assert(
      fc.property(choices, fc.nat(), values, (tape, n, value) => {
        const file = yamlFrom(tape);
        const { place, kind } = pick(file, n, () => true);
        const wanted = withSet(meaning(file.text), place, value);
        const after = editedUnlessNeeded(file.text, (yaml) => yaml.set(place, value));
        if (after === null) return;
        assert.deepEqual(meaning(after), wanted, `${file.text}\n=>\n${after}`);
        const aliases = aliasesTouched(file, place);
        othersStay(file, after, [place, ...aliases]);
        lineEndsStay(file, after);
        const scalar = typeof value !== "object" || value === null;
        if (scalar && kind === "scalar" && !isShared(file, place)) {
          assert.equal(linesOf(after).length, linesOf(file.text).length, "one line for one line");
          const line = file.lines.find(({ owner }) => isWithin(owner, place))!.text;
          const comment = /(?<=\s)# (?:why): \d+$/.exec(line)?.[0];
          if (comment !== undefined) assert.ok(after.includes(comment), "its comment stays");
        }
        assert.equal(
          edited(after, (yaml) => yaml.set(place, value)),
          after,
          "a second run changes nothing",
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("a new entry comes on lines of its own", () => {
    fc.assert(
      fc.property(choices, fc.nat(), values, (tape, n, value) => {
        const file = yamlFrom(tape);
        const before = meaning(file.text);
        const root: PlacedEntry = { place: [], kind: "map", behindDash: false };
        const maps = [root, ...file.entries].filter(({ place, kind }) => {
          const at = place.length === 0 ? before : holderOf(before, place)[place[place.length - 1]!];
          return (
            ["map", "flow", "alias"].includes(kind) &&
            typeof at === "object" &&
            at !== null &&
            !Array.isArray(at)
          );
        });
        const map = maps[n % maps.length]!;
        const place = [...map.place, "new_key"];
        const after = editedUnlessNeeded(file.text, (yaml) => yaml.set(place, value));
        if (after === null) return;
        assert.deepEqual(meaning(after), withSet(before, place, value), `${file.text}\n=>\n${after}`);
        const aliases = aliasesTouched(file, map.place);
        othersStay(file, after, [...(map.kind === "map" ? [] : [map.place]), ...aliases]);
        lineEndsStay(file, after);
        if (map.kind === "map" && !isShared(file, map.place) && (typeof value !== "object" || value === null))
          assert.equal(linesOf(after).length, linesOf(file.text).length + 1);
        assert.equal(
          edited(after, (yaml) => yaml.set(place, value)),
          after,
          "a second run changes nothing",
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("an item comes at the end of its list", () => {
    fc.assert(
      fc.property(choices, fc.nat(), values, (tape, n, value) => {
        const file = yamlFrom(tape);
        const before = meaning(file.text);
        const listAt = (place: Place) => holderOf(before, place)[place[place.length - 1]!];
        const { place, kind } = pick(file, n, (entry) => Array.isArray(listAt(entry.place)));
        const after = edited(file.text, (yaml) => yaml.append(place, value));
        const wanted = withSet(before, place, [...(listAt(place) as unknown[]), value]);
        assert.deepEqual(meaning(after), wanted, `${file.text}\n=>\n${after}`);
        othersStay(file, after, [...(kind === "list" ? [] : [place]), ...aliasesTouched(file, place)]);
        lineEndsStay(file, after);
      }),
      { numRuns: RUNS },
    );
  });

  test("several edits at once mean what they mean one by one, in whatever order", () => {
    fc.assert(
      fc.property(
        choices,
        fc.array(fc.tuple(fc.nat(2), fc.nat(), values), { minLength: 2, maxLength: 6 }),
        (tape, edits) => {
          const file = yamlFrom(tape);
          const yaml = new YamlText(file.text, { file: "x.yaml" });
          let wanted = meaning(file.text);
          for (const [kind, n, value] of edits) {
            const { place } = pick(file, n, () => true);
            if (!yaml.has(place)) continue;
            if (kind === 0) {
              yaml.delete(place);
              wanted = withDeleted(wanted, place);
            } else {
              const to =
                kind === 1 || typeof place.at(-1) === "number"
                  ? place
                  : [...place.slice(0, -1), `new_${n % 3}`];
              yaml.set(to, value);
              wanted = withSet(wanted, to, value);
            }
          }
          const after = editedUnlessNeeded(file.text, () => {}, yaml);
          if (after === null) return;
          assert.deepEqual(meaning(after), wanted, `${file.text}\n=>\n${after}`);
          lineEndsStay(file, after);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("a file that is to mean something else keeps what is the same", () => {
    fc.assert(
      fc.property(choices, fc.infiniteStream(fc.nat(99)), (tape, random) => {
        const file = yamlFrom(tape);
        const wanted = shuffled(meaning(file.text), () => random.next().value);
        const after = editedUnlessNeeded(file.text, (yaml) => yaml.update(wanted));
        if (after === null) return;
        assert.deepEqual(meaning(after), wanted, `${file.text}\n=>\n${after}`);
        lineEndsStay(file, after);
        assert.equal(
          edited(after, (yaml) => yaml.update(wanted)),
          after,
          "a second run changes nothing",
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("deleting takes its lines and no others", () => {
    fc.assert(
      fc.property(choices, fc.nat(), (tape, n) => {
        const file = yamlFrom(tape);
        const { place, behindDash } = pick(file, n, () => true);
        const before = meaning(file.text);
        const wanted = withDeleted(before, place);
        const after = editedUnlessNeeded(file.text, (yaml) => assert.ok(yaml.delete(place)));
        if (after === null) return;
        assert.deepEqual(meaning(after), wanted, `${file.text}\n=>\n${after}`);
        // Of items that are equal any may go.
        const holder = holderOf(before, place);
        const item = JSON.stringify(holder[place[place.length - 1]!]);
        const equal = Array.isArray(holder) ? holder.filter((other) => JSON.stringify(other) === item) : [];
        fc.pre(equal.length < 2);
        const empty = Object.keys(holderOf(wanted, place)).length === 0;
        const aliases = aliasesTouched(file, place);
        // The next entry moves up to the dash.
        const undashed = behindDash ? (line: string) => line.replace(/^[ -]+/, "") : undefined;
        othersStay(file, after, [empty ? place.slice(0, -1) : place, ...aliases], undashed);
        lineEndsStay(file, after);
        if (!empty && !behindDash && !isShared(file, place)) {
          const left = file.lines.filter(({ owner }) => !isWithin(owner, place));
          assert.deepEqual(
            linesOf(after).filter((line) => line !== ""),
            left.map(({ text }) => text).filter((line) => line !== ""),
          );
        }
        assert.equal(
          edited(after, (yaml) => void (Array.isArray(holderOf(wanted, place)) || yaml.delete(place))),
          after,
        );
      }),
      { numRuns: RUNS },
    );
  });
});
