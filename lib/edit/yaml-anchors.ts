import { isAlias, isMap, isSeq, type Node, type YAMLMap } from "yaml";
import { CannotEdit } from "./yaml-context.ts";
import { isMapping } from "./yaml-render.ts";
import { isMerge, keyText, mergeSources, type ParsedYaml } from "./yaml-value.ts";

/** What becomes of anchors in the course of an edit: what their aliases and merge keys mean then. */
export class Anchors {
  readonly #parsed: ParsedYaml;
  /** Nodes with an anchor that get another meaning, and which. */
  readonly #changed = new Map<Node, unknown>();
  /** Nodes with an anchor that are taken out: their aliases must do without. */
  readonly #gone = new Set<Node>();
  readonly #holding = new Map<unknown, boolean>();

  constructor(parsed: ParsedYaml) {
    this.#parsed = parsed;
  }

  /** Notes that a node with an anchor gets another meaning. */
  change(node: Node, value: unknown): void {
    this.#changed.set(node, value);
  }

  /** Notes that a node is taken out with all anchors in it. */
  leave(node: unknown): void {
    if ((node as { anchor?: string } | null)?.anchor !== undefined) this.#gone.add(node as Node);
    this.leaveItems(node);
  }

  /** Notes that what is in a node is taken out; its own anchor stays. */
  leaveItems(node: unknown): void {
    for (const item of itemsOf(node)) this.leave(item);
  }

  isGone(node: Node): boolean {
    return this.#gone.has(node);
  }

  /** What a node means once the edits so far are made: anchors stand before their aliases, so theirs are made. */
  meaning(node: Node): unknown {
    if (isAlias(node)) return this.meaning(this.#target(node));
    return this.#changed.has(node) ? this.#changed.get(node) : this.#parsed.valueOf(node);
  }

  /** Whether a node holds aliases while some anchor is another or gone: they are to be looked at. */
  touches(node: Node | null): boolean {
    return this.#changed.size + this.#gone.size > 0 && this.#holdsAlias(node);
  }

  #holdsAlias(node: unknown): boolean {
    if (isAlias(node)) return true;
    if (!isMap(node) && !isSeq(node)) return false;
    const known = this.#holding.get(node);
    if (known !== undefined) return known;
    const found = itemsOf(node).some((child) => this.#holdsAlias(child));
    this.#holding.set(node, found);
    return found;
  }

  /**
   * Keys that come in through `<<`, with what they mean once the edits so far are made. Throws CannotEdit where what
   * they come from is gone or no mapping any more.
   *
   * @param kept keys that the mapping is to have: its own ones among them hide those that come in
   */
  inherited(node: YAMLMap, kept: ReadonlySet<string>): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const own = new Set(
      node.items
        .filter((pair) => !isMerge(pair))
        .map(keyText)
        .filter((key) => kept.has(key)),
    );
    for (const pair of node.items.filter(isMerge)) {
      for (const merged of mergeSources(pair, this.#parsed.document)) {
        for (const [key, item] of Object.entries(this.#brought(merged as Node)))
          if (!own.has(key) && !Object.hasOwn(result, key)) result[key] = item;
      }
    }
    return result;
  }

  #brought(source: Node): Record<string, unknown> {
    const at = source.range?.[0] ?? 0;
    if (this.#gone.has(this.#target(source)))
      throw new CannotEdit(`What "<<: ${String(source)}" brings in here would be gone`, at);
    const value = this.meaning(source);
    if (isMapping(value)) return value;
    throw new CannotEdit(`What "<<: ${String(source)}" brings in here must stay a mapping`, at);
  }

  #target(node: Node): Node {
    return isAlias(node) ? (node.resolve(this.#parsed.document) as Node) : node;
  }
}

/** Values of a mapping, items of a list. */
function itemsOf(node: unknown): readonly unknown[] {
  if (isMap(node)) return node.items.map(({ value }) => value);
  return isSeq(node) ? node.items : [];
}
