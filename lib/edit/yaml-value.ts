import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { BatError, type Problem, problemsError } from "../errors.ts";
import { bare, isMapping, Written } from "./yaml-render.ts";

/** More values than any file that people write has; aliases of aliases would multiply without end. */
const MOST_VALUES = 2_000_000;

/** YAML text that was read: its nodes with their places, and what each means. */
export interface ParsedYaml {
  document: Document.Parsed;
  /** The meaning of a node, aliases followed and merge keys carried out. Shared, never to be changed. */
  valueOf(node: unknown): unknown;
  /** `line 4, column 3` */
  place(offset: number): string;
}

/**
 * Reads one YAML document. Throws BatError (code `config`) with every place that is no YAML, and for what has no one
 * meaning: several documents, a key twice, an alias inside what it stands for.
 *
 * @param file its name, for messages
 * @param keepSourceTokens for edits: without them the nodes only have their values
 */
export function parseYaml(text: string, file: string, keepSourceTokens = true): ParsedYaml {
  const document = parseDocument(text, { keepSourceTokens, prettyErrors: false, merge: true });
  const place = (offset: number) => {
    const before = text.slice(0, offset).split("\n");
    return `line ${before.length}, column ${before[before.length - 1]!.length + 1}`;
  };
  if (document.errors.length > 0) {
    const problems: Problem[] = document.errors.map((error) => ({
      file,
      place: place(error.pos[0]),
      message:
        error.code === "MULTIPLE_DOCS"
          ? "A second document begins here; a file with one document is wanted"
          : error.message,
    }));
    throw problemsError("config", `Cannot edit ${file}, it is no valid YAML:`, problems);
  }
  const read = reader(document, file, place);
  read(document.contents);
  return { document, valueOf: read, place };
}

function reader(document: Document.Parsed, file: string, place: (offset: number) => string) {
  const known = new Map<unknown, unknown>();
  const open = new Set<unknown>();
  const fail = (node: Node, message: string): never => {
    throw problemsError("config", `Cannot edit ${file}:`, [
      { file, place: place(node.range?.[0] ?? 0), message },
    ]);
  };
  const read = (node: unknown): unknown => {
    if (node === null || node === undefined) return null;
    if (known.has(node)) return known.get(node);
    if (open.has(node)) return fail(node as Node, "An alias stands inside what it stands for");
    open.add(node);
    const value = meaning(node);
    open.delete(node);
    known.set(node, value);
    return value;
  };
  const meaning = (node: unknown): unknown => {
    if (isAlias(node)) {
      const target = (node as Alias).resolve(document);
      return target === undefined ? fail(node, `There is no anchor "&${node.source}"`) : read(target);
    }
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => (isPair(item) ? pairValue(item) : read(item)));
    if (isMap(node)) return mapValue(node);
    return null;
  };
  const pairValue = (pair: Pair) => ({ [keyText(pair)]: read(pair.value) });
  const mapValue = (map: YAMLMap): Record<string, unknown> => {
    const result: Record<string, unknown> = {};
    const own = new Set(map.items.filter((pair) => !isMerge(pair)).map(keyText));
    if (own.size < map.items.filter((pair) => !isMerge(pair)).length)
      fail(map, "Two keys of a mapping are the same text");
    for (const pair of map.items) {
      if (!isMerge(pair)) put(result, keyText(pair), read(pair.value));
      else
        for (const source of mergeSources(pair, document)) {
          const merged = read(source);
          if (!isMapping(merged)) return fail(map, "A merge key (<<) needs a mapping");
          for (const [key, value] of Object.entries(merged))
            if (!own.has(key) && !Object.hasOwn(result, key)) put(result, key, value);
        }
    }
    return result;
  };
  return read;
}

/** Sets a key, `__proto__` too. */
export function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Whether a pair is `<<: …`. */
export function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === "PLAIN" && pair.key.source === "<<";
}

/** What a merge key brings in, the one that wins first. */
export function mergeSources(pair: Pair, document: Document.Parsed): unknown[] {
  const direct = isAlias(pair.value) ? (pair.value as Alias).resolve(document) : pair.value;
  return isSeq(direct) ? direct.items : [pair.value];
}

/** A key as text; one that is no scalar stands for itself alone. */
export function keyText(pair: Pair): string {
  if (isScalar(pair.key)) return pair.key.value === null ? "" : String(pair.key.value);
  return `\u0000${String(pair.key)}`;
}

/** Whether two values are the same; the order of keys does not matter. */
export function sameValue(left: unknown, right: unknown): boolean {
  const a = bare(left);
  const b = bare(right);
  if (Object.is(a, b) || (a === 0 && b === 0)) return true;
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  if (isMapping(a) && isMapping(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
    );
  }
  return false;
}

/** A copy that shares nothing; comments that values bring are kept unless `plain`. Throws on more than any file has. */
export function copyValue(value: unknown, options: { plain?: boolean } = {}): unknown {
  let count = 0;
  const copy = (from: unknown): unknown => {
    count += 1;
    if (count > MOST_VALUES) throw new BatError("config", `A YAML file has more than ${MOST_VALUES} values`);
    if (from instanceof Written)
      return options.plain === true ? copy(from.value) : new Written(copy(from.value), from);
    if (Array.isArray(from)) return from.map(copy);
    if (!isMapping(from) || from instanceof Date) return from === undefined ? null : from;
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(from)) if (item !== undefined) put(result, key, copy(item));
    return result;
  };
  return copy(value);
}
