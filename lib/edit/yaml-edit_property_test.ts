import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  aliasesTouched,
  edited,
  editedUnlessNeeded,
  holderOf,
  isShared,
  lineEndsStay,
  linesOf,
  meaning,
  othersStay,
  pick,
  shuffled,
  withDeleted,
  withSet,
} from "../../test/_yaml-edits.ts";
import { isWithin, type Place, type PlacedEntry, yamlFrom } from "../../test/_yaml-lines.ts";
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
