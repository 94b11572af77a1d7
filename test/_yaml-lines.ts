/** Keys and indices from the root down. */
export type Place = readonly (string | number)[];

/** A line of a generated file, and the innermost entry that it belongs to. */
export interface OwnedLine {
  text: string;
  owner: Place;
}

/** What stands at a place, as far as an edit's outcome depends on it. */
export interface PlacedEntry {
  place: Place;
  kind: "scalar" | "lines" | "flow" | "map" | "list" | "alias";
  /** Its line also holds what it is in: `- key: value`. */
  behindDash: boolean;
}

/** A YAML file that a person could have written. */
export interface GeneratedYaml {
  text: string;
  lines: OwnedLine[];
  entries: PlacedEntry[];
  /** Places that have an anchor. */
  anchors: Place[];
  /** Whether there is a merge key. */
  merges: boolean;
  eol: string;
}

const KEYS = ["name", "port", "url", "ключ", "with space", "a.b", '"quoted: key"', "'it''s'", "model", "x-y"];
const PLAIN = [
  "word",
  "two words",
  "http://localhost:9900/x?y=1",
  "日本語 ключ é",
  "a#b",
  "/path/to",
  "${VAR:-x}",
];
const QUOTED = ['"double \\u00e9 \\" x"', "'single ''quoted'''", '"1.0"', "'yes'", '""', '"# no comment"'];
const OTHER = ["42", "0x1F", "1.50", "true", "null", "~", "2024-01-01", "!!str 5", "- 1".slice(2), ".5"];

/** Makes a file from a list of choices; with none left, everything is as simple as it can be. */
export function yamlFrom(choices: readonly number[]): GeneratedYaml {
  return new YamlWriter(choices).file();
}

class YamlWriter {
  readonly #choices: readonly number[];
  readonly #lines: OwnedLine[] = [];
  readonly #entries: PlacedEntry[] = [];
  readonly #anchors: { name: string; place: Place; map: boolean }[] = [];
  #at = 0;
  #serial = 0;
  #merges = false;
  #endsInBlockScalar = false;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  file(): GeneratedYaml {
    const bom = this.#pick(8) === 7 ? "\ufeff" : "";
    const eol = this.#pick(3) === 2 ? "\r\n" : "\n";
    const head = [[], ["---"], ["# header", ""], ["%YAML 1.2", "---"], ["# a", "--- # b"]][this.#pick(5)]!;
    for (const line of head) this.#line(line, []);
    this.#map([], 0, 0);
    const far = this.#endsInBlockScalar ? "# footer" : "  # footer";
    const foot = [[], ["# footer"], ["..."], ["", far, ""]][this.#pick(4)]!;
    for (const line of foot) this.#line(line, []);
    const open = this.#pick(5) === 4 && foot.length === 0 && !this.#endsInBlockScalar ? "" : eol;
    return {
      text: bom + this.#lines.map(({ text }) => text).join(eol) + open,
      lines: this.#lines,
      entries: this.#entries,
      anchors: this.#anchors.map(({ place }) => place),
      merges: this.#merges,
      eol,
    };
  }

  #pick(count: number): number {
    return (this.#choices[this.#at++] ?? 0) % count;
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#pick(items.length)]!;
  }

  #line(text: string, owner: Place): void {
    this.#lines.push({ text, owner });
  }

  #entry(place: Place, kind: PlacedEntry["kind"], behindDash = false): void {
    this.#entries.push({ place, kind, behindDash });
  }

  #map(place: Place, column: number, depth: number, dash?: string): void {
    const count = 1 + this.#pick(depth === 0 ? 5 : 3);
    const step = this.#one([2, 2, 4, 1]);
    const first = this.#pick(KEYS.length);
    const own = dash;
    for (let i = 0; i < count; i += 1) {
      const behind = i === 0 ? own : undefined;
      if (behind === undefined) this.#noise(place, column);
      this.#pair(place, KEYS[(first + i) % KEYS.length]!, { column, step, depth, dash: behind });
    }
    const maps = this.#anchors.filter((anchor) => anchor.map && !isWithin(place, anchor.place));
    if (maps.length > 0 && this.#pick(3) === 2) {
      this.#line(`${" ".repeat(column)}<<: *${this.#one(maps).name}`, place);
      this.#merges = true;
      this.#endsInBlockScalar = false;
    }
  }

  /** Comments and blank lines. */
  #noise(owner: Place, column: number): void {
    const deep = this.#endsInBlockScalar ? column : column + 3;
    const kinds = [[], [], [`${" ".repeat(column)}# note: ${this.#serial++}`], [""], ["# far left"]];
    const lines = [...kinds, [`${" ".repeat(deep)}# deep`, ""]][this.#pick(6)]!;
    // Blank lines belong to a block scalar before them.
    if (this.#endsInBlockScalar && lines[0] === "") return;
    for (const line of lines) this.#line(line, owner);
    if (lines.length > 0) this.#endsInBlockScalar = false;
  }

  #anchor(place: Place, map: boolean): string {
    if (this.#pick(6) !== 5) return "";
    const name = `a${this.#anchors.length}`;
    this.#anchors.push({ name, place, map });
    return `&${name} `;
  }

  #pair(
    parent: Place,
    key: string,
    at: { column: number; step: number; depth: number; dash: string | undefined },
  ): void {
    const { column, step, depth, dash } = at;
    const place = [...parent, plainKey(key)];
    const behindDash = dash !== undefined;
    const head = `${dash ?? " ".repeat(column)}${key}:`;
    const gap = this.#one([" ", " ", "   "]);
    const comment = this.#one(["", "", ` # why: ${this.#serial++}`]);
    const inner = " ".repeat(column + step);
    const kind = this.#pick(depth < 3 ? 17 : 11);
    this.#endsInBlockScalar = false;
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        const values = [PLAIN, QUOTED, OTHER][kind]!;
        this.#line(`${head}${gap}${this.#anchor(place, false)}${this.#one(values)}${comment}`, place);
        this.#entry(place, "scalar", behindDash);
        return;
      }
      case 3:
        this.#line(`${head}${comment}`, place);
        this.#entry(place, "scalar", behindDash);
        return;
      case 4: {
        const header = this.#one(["|", ">", "|-", "|+", ">-"]);
        this.#line(`${head}${gap}${this.#anchor(place, false)}${header}${comment}`, place);
        for (const line of [`${inner}first # no comment`, "", `${inner}  key: deeper`, `${inner}last`])
          this.#line(line, place);
        this.#entry(place, "lines", behindDash);
        this.#endsInBlockScalar = true;
        return;
      }
      case 5:
        this.#line(`${head}${gap}"begins \\`, place);
        this.#line(`${inner}  goes on`, place);
        this.#line(`${inner}ends"${comment}`, place);
        this.#entry(place, "lines", behindDash);
        return;
      case 6:
        this.#line(`${head}${gap}begins`, place);
        this.#line(`${inner}goes on`, place);
        this.#entry(place, "lines", behindDash);
        return;
      case 7:
      case 8: {
        const flow = this.#one(
          kind === 7 ? ["{a: 1, b: [2, x]}", "{ a: 1 }", "{}"] : ["[a, 'b', 3]", "[ a ]", "[]"],
        );
        this.#line(`${head}${gap}${this.#anchor(place, kind === 7)}${flow}${comment}`, place);
        this.#entry(place, "flow", behindDash);
        return;
      }
      case 9: {
        const last = this.#one(["", ","]);
        this.#line(`${head}${gap}{`, place);
        this.#line(`${inner}a: 1, # about a`, place);
        this.#line(`${inner}b: two${last}`, place);
        this.#line(`${inner}}${comment}`, place);
        this.#entry(place, "flow", behindDash);
        return;
      }
      case 10: {
        const known = this.#anchors.filter((anchor) => !isWithin(place, anchor.place));
        if (known.length === 0) {
          this.#line(`${head}${gap}${"long ".repeat(60)}line${comment}`, place);
          this.#entry(place, "scalar", behindDash);
        } else {
          this.#line(`${head}${gap}*${this.#one(known).name}${comment}`, place);
          this.#entry(place, "alias", behindDash);
        }
        return;
      }
      case 11:
      case 12: {
        const dashColumn = this.#one([column, column + step]);
        this.#line(`${head}${this.#withBlank(this.#anchor(place, false))}${comment}`, place);
        const count = 1 + this.#pick(3);
        this.#entry(place, "list", behindDash);
        for (let i = 0; i < count; i += 1) {
          this.#noise(place, dashColumn);
          const item = `${" ".repeat(dashColumn)}-${gap}`;
          if (kind === 11) {
            this.#endsInBlockScalar = false;
            this.#line(`${item}${this.#one([...PLAIN, ...QUOTED])}`, [...place, i]);
            this.#entry([...place, i], "scalar");
          } else {
            this.#entry([...place, i], "map");
            this.#map([...place, i], item.length, depth + 2, item);
          }
        }
        return;
      }
      default:
        this.#line(`${head}${this.#withBlank(this.#anchor(place, true))}${comment}`, place);
        this.#entry(place, "map", behindDash);
        this.#map(place, column + step, depth + 1);
    }
  }

  #withBlank(anchor: string): string {
    return anchor === "" ? "" : ` ${anchor.trimEnd()}`;
  }
}

/** Whether a place is another or in it. */
export function isWithin(inner: Place, outer: Place): boolean {
  return outer.every((part, i) => inner[i] === part);
}

function plainKey(key: string): string {
  if (key.startsWith('"')) return JSON.parse(key) as string;
  return key.startsWith("'") ? key.slice(1, -1).replaceAll("''", "'") : key;
}
