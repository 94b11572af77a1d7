import { isNode } from "yaml";
import { type BatError, problemsError } from "../errors.ts";
import { CannotEdit } from "./yaml-context.ts";
import { bare, isMapping } from "./yaml-render.ts";
import { YamlSource } from "./yaml-source.ts";
import { Splicer } from "./yaml-splice.ts";
import { copyValue, type ParsedYaml, parseYaml, put, sameValue } from "./yaml-value.ts";

export { Written } from "./yaml-render.ts";

/** Where something is in a YAML file: keys and indices from the root down. */
export type YamlPath = readonly (string | number)[];

/**
 * A YAML text under edit. Edits say what the file is to mean; `toString` makes them in the text, where comments, order,
 * anchors, quoting, flow style and line ends of all else stay, and checks that the result means what was meant.
 *
 * ```ts
 * const file = new YamlText(text, { file: "config.yaml" });
 * file.set(["model", "name"], "gpt");
 * file.append(["services", "desk", "env_file"], ".env");
 * file.toString();
 * ```
 *
 * A new key goes on its own commented-out line (`# key: value`), else to the end of its mapping. What an alias stands
 * for is never changed through it: the place gets content of its own (`<<: *alias` and the keys that differ).
 */
export class YamlText {
  readonly #file: string;
  readonly #source: YamlSource;
  readonly #parsed: ParsedYaml;
  readonly #set = new Set<string>();
  #value: unknown;
  #result: string | null;

  /**
   * @param options.file name of the file, for messages
   * @throws BatError (code `config`) with file and place for a text that is no YAML or has several documents
   */
  constructor(text: string, options: { file: string }) {
    this.#file = options.file;
    this.#source = new YamlSource(text);
    this.#parsed = parseYaml(text, options.file);
    this.#value = copyValue(this.#parsed.valueOf(this.#parsed.document.contents));
    this.#result = text;
  }

  /** What the file is to mean, with all edits so far: a copy, without aliases and merge keys. */
  get value(): unknown {
    return copyValue(this.#value, { plain: true });
  }

  /** The value at a place, a copy; undefined where there is none. */
  get(path: YamlPath): unknown {
    const found = this.#find(path);
    return found === undefined ? undefined : copyValue(found, { plain: true });
  }

  /** Whether there is something at a place; null counts. */
  has(path: YamlPath): boolean {
    return this.#find(path) !== undefined;
  }

  /**
   * Sets a value; mappings on the way that are missing or empty are made.
   *
   * @throws BatError (code `config`) where something else than a mapping (for an index: a list) is on the way
   */
  set(path: YamlPath, value: unknown): void {
    const copy = copyValue(value);
    this.#edit();
    this.#mark(path, copy);
    if (path.length === 0) {
      this.#value = copy;
      return;
    }
    if (this.#value === null) this.#value = {};
    let holder: unknown = this.#value;
    for (const [depth, part] of path.entries()) {
      const last = depth === path.length - 1;
      const within = bare(holder);
      if (typeof part === "number") {
        if (!Array.isArray(within) || part < 0 || part >= within.length) throw this.#noPlace(path, depth);
        if (last) within[part] = copy;
        holder = within[part];
      } else {
        if (!isMapping(within)) throw this.#noPlace(path, depth);
        if (last) put(within, part, copy);
        else if (!Object.hasOwn(within, part) || within[part] === null) put(within, part, {});
        holder = within[part];
      }
    }
  }

  /** Adds an item at the end of a list; a list that is missing or empty is made. */
  append(path: YamlPath, item: unknown): void {
    const list = this.#find(path);
    if (list === undefined || list === null) this.set(path, [item]);
    else if (!Array.isArray(bare(list))) throw this.#noPlace([...path, 0], path.length);
    else {
      this.#edit();
      this.#mark([...path, (bare(list) as unknown[]).length], item);
      (bare(list) as unknown[]).push(copyValue(item));
    }
  }

  /** Takes a key or an item of a list out, with the comment behind it on its line. False where there was none. */
  delete(path: YamlPath): boolean {
    const part = path[path.length - 1];
    const holder = bare(this.#find(path.slice(0, -1)));
    if (part === undefined || !this.has(path)) return false;
    this.#edit();
    if (typeof part === "number") {
      (holder as unknown[]).splice(part, 1);
      // The items behind it move up: what was noted of their places is theirs no more.
      const list = JSON.stringify(path.slice(0, -1)).slice(0, -1);
      for (const place of this.#set) if (place.startsWith(list)) this.#set.delete(place);
    } else delete (holder as Record<string, unknown>)[part];
    return true;
  }

  /**
   * Makes the whole file mean a value. Only what differs is touched: keys and items that are the same stay as they are
   * written, items of lists are known by `name` or `id`.
   */
  update(value: unknown): void {
    this.#edit();
    this.#value = copyValue(value);
  }

  /** Whether the text differs from what it was. */
  get changed(): boolean {
    return this.toString() !== this.#source.text;
  }

  /**
   * The edited text.
   *
   * @throws BatError (code `config`) with file and place when it cannot be made to mean what was meant
   */
  toString(): string {
    this.#result ??= this.#make();
    return this.#result;
  }

  /** `line 4, column 3` of a place in the text as it was, or of the nearest place above it. */
  place(path: YamlPath): string {
    const { document, place } = this.#parsed;
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return place(node.range[0]);
    }
    return place(document.contents?.range?.[0] ?? 0);
  }

  #make(): string {
    try {
      const text = new Splicer(this.#source, this.#parsed, this.#set).apply(this.#value);
      return this.#checked(text);
    } catch (error) {
      if (!(error instanceof CannotEdit)) throw error;
      throw this.#cannot(this.#parsed.place(error.offset), error.message, error);
    }
  }

  /** The one check that closes the whole kind of faults: the text must mean what was meant. */
  #checked(text: string): string {
    if (text === this.#source.text) return text;
    let found: unknown;
    try {
      const parsed = parseYaml(text, this.#file, false);
      found = parsed.valueOf(parsed.document.contents);
    } catch (error) {
      throw this.#cannot(this.#firstDifference(text), "The edit would break it here", error);
    }
    if (sameValue(found, this.#value)) return text;
    throw this.#cannot(this.#firstDifference(text), "The edit would change more than was meant", null);
  }

  #firstDifference(text: string): string {
    const old = this.#source.text;
    let at = 0;
    while (at < old.length && old[at] === text[at]) at += 1;
    return this.#parsed.place(Math.min(at, old.length));
  }

  #cannot(place: string, message: string, cause: unknown): BatError {
    const problem = { file: this.#file, place, message: `${message}; edit it by hand` };
    const error = problemsError("config", `Cannot edit ${this.#file}, nothing was written:`, [problem]);
    if (cause !== null) error.cause = cause;
    return error;
  }

  #find(path: YamlPath): unknown {
    let at: unknown = this.#value;
    for (const part of path) {
      const within = bare(at);
      if (typeof within !== "object" || within === null || !Object.hasOwn(within, part)) return undefined;
      at = (within as Record<string | number, unknown>)[part];
    }
    return at;
  }

  #noPlace(path: YamlPath, depth: number): BatError {
    const holder = path.slice(0, depth);
    const name = holder.length === 0 ? "the file" : `"${holder.join(".")}"`;
    const wanted = typeof path[depth] === "number" ? "a list with that item" : "a mapping";
    return problemsError("config", `Cannot set "${path.join(".")}" in ${this.#file}, nothing was written:`, [
      { file: this.#file, place: this.place(holder), message: `Expected ${name} to be ${wanted}` },
    ]);
  }

  #edit(): void {
    this.#result = null;
  }

  /** Remembers every scalar of a value that was set. */
  #mark(path: YamlPath, value: unknown): void {
    const plain = bare(value);
    if (Array.isArray(plain)) for (const [i, item] of plain.entries()) this.#mark([...path, i], item);
    else if (isMapping(plain))
      for (const [key, item] of Object.entries(plain)) this.#mark([...path, key], item);
    else this.#set.add(JSON.stringify(path));
  }
}
