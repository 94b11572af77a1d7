import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import type { Alignment } from "./align.ts";
import { alignValues } from "./yaml-align.ts";
import { Anchors } from "./yaml-anchors.ts";
import { CannotEdit, type Context, offsetOf, Splices } from "./yaml-context.ts";
import { deleteEntries, insertIntoList, insertIntoMap, type NewItem } from "./yaml-entries.ts";
import { bare, isMapping, Written } from "./yaml-render.ts";
import { type Replacement, replaceNode } from "./yaml-replace.ts";
import { isPlainSafe } from "./yaml-scalar.ts";
import { indentStep, type YamlSource } from "./yaml-source.ts";
import { isMerge, keyText, type ParsedYaml, sameValue } from "./yaml-value.ts";

/**
 * The edits that make a text mean another value: a walk through nodes and value together that touches only what
 * differs. A node with an anchor is changed in its place; where an alias then no longer means what it should, it gets
 * content of its own.
 */
export class Splicer {
  readonly #source: YamlSource;
  readonly #parsed: ParsedYaml;
  readonly #splices = new Splices();
  readonly #step: number;
  /** Places (JSON paths) that were set: there a text is written so that every reader reads a text. */
  readonly #set: ReadonlySet<string>;
  /** Those places and all above them. */
  readonly #towardsSet = new Set<string>();
  readonly #anchors: Anchors;

  constructor(source: YamlSource, parsed: ParsedYaml, set: ReadonlySet<string>) {
    this.#source = source;
    this.#parsed = parsed;
    this.#set = set;
    for (const place of set) {
      const path = JSON.parse(place) as unknown[];
      for (let depth = path.length; depth >= 0; depth -= 1)
        this.#towardsSet.add(JSON.stringify(path.slice(0, depth)));
    }
    this.#anchors = new Anchors(parsed);
    this.#step = indentStep(parsed.document.contents, source);
  }

  /** The text that means `value`. Throws CannotEdit. */
  apply(value: unknown): string {
    const { contents } = this.#parsed.document;
    const range = contents?.range;
    const written = range !== undefined && range !== null && range[1] > range[0];
    if (!written) this.#fillEmpty(value);
    else {
      const [start] = range;
      const end = this.#source.contentEnd(contents as Node);
      const place = { start, lead: start, keyEnd: start, propertiesEnd: start, valueStart: start, end };
      this.#visit(contents as Node, value, {
        kind: "root",
        place,
        inFlow: (contents as { flow?: boolean }).flow === true,
        column: 0,
        step: this.#step,
        path: [],
      });
    }
    return this.#splices.apply(this.#source);
  }

  /** A file without content: comments and markers at most. */
  #fillEmpty(value: unknown): void {
    if (value === null) return;
    const { document } = this.#parsed;
    const marker = document.directives?.docStart === true ? (document.contents?.range?.[0] ?? 0) : 0;
    const first = this.#source.text.startsWith("\ufeff") ? 1 : 0;
    const from = marker > 0 ? this.#source.afterLine(marker) : first;
    const at = this.#source.pastComments(from, 0);
    if (!isMapping(bare(value))) throw new CannotEdit("The file is empty; a mapping is wanted", at);
    const item = bare(value) as Record<string, unknown>;
    insertIntoMap(
      this.#source,
      this.#splices,
      null,
      { at, column: 0, step: this.#step },
      Object.entries(item),
    );
  }

  #visit(node: Node | null, value: unknown, context: Context): void {
    if (isAlias(node)) {
      this.#visitAlias(node, value, context);
      return;
    }
    const before = this.#parsed.valueOf(node);
    const same = sameValue(before, value);
    if (!same && node !== null && (node as { anchor?: string }).anchor !== undefined)
      this.#anchors.change(node, bare(value));
    if (same && !this.#ambiguous(node, value, context) && !this.#anchors.touches(node)) return;
    const plain = bare(value);
    if (isMap(node) && isMapping(plain) && !this.#becomesEmpty(node, plain))
      this.#visitMap(node, plain, context);
    else if (context.kind === "root" && isMap(node) && isMapping(plain) && Object.keys(plain).length === 0)
      this.#replace(node, context, { value });
    else if (isSeq(node) && Array.isArray(plain) && (plain.length > 0 || node.items.length === 0))
      this.#visitList(node, plain, context);
    else if (context.kind === "root" && !this.#isEmptyFlow(node))
      throw new CannotEdit("The whole file would be another one", offsetOf(node, context));
    else this.#replace(node, context, { value });
  }

  /** Writes a node anew; what it held is gone. What was in flow style stays so. */
  #replace(node: Node | null, context: Context, replacement: Replacement): void {
    this.#anchors.leaveItems(node);
    const flow = (isMap(node) || isSeq(node)) && node.flow === true && node.items.length > 0;
    const within = flow ? { ...context, inFlow: true } : context;
    replaceNode(this.#source, this.#splices, node, within, replacement);
  }

  /** A text that was set and stands without quotes, though another reader takes it for a number or such; or what holds one. */
  #ambiguous(node: Node | null, value: unknown, { path, inFlow }: Context): boolean {
    const place = JSON.stringify(path);
    if (isMap(node) || isSeq(node)) return this.#towardsSet.has(place);
    if (typeof bare(value) !== "string" || !this.#set.has(place)) return false;
    if (value instanceof Written && value.text === (node as { source?: string } | null)?.source) return false;
    return isScalar(node) && node.type === "PLAIN" && !isPlainSafe(node.source ?? "", inFlow);
  }

  #isEmptyFlow(node: Node | null): boolean {
    return (isMap(node) || isSeq(node)) && node.items.length === 0;
  }

  /** Nothing of the mapping stays: it is written anew. An empty `{}` with entries to come is, too, outside of flow. */
  #becomesEmpty(node: YAMLMap, value: Record<string, unknown>): boolean {
    if (node.items.length === 0) return Object.keys(value).length > 0;
    return node.items.every((pair) => !isMerge(pair) && !Object.hasOwn(value, keyText(pair)));
  }

  /** Where some entries of `{}` or `[]` go and others come, all of it is written again, unless it holds comments. */
  #isWrittenAnew(node: YAMLMap | YAMLSeq, some: boolean, others: boolean): boolean {
    const [start, end] = node.range!;
    return node.flow === true && some && others && !/[#&<]/.test(this.#source.text.slice(start, end));
  }

  #visitAlias(node: Alias, value: unknown, context: Context): void {
    const target = node.resolve(this.#parsed.document) as Node;
    const gone = this.#anchors.isGone(target);
    const meant = this.#anchors.meaning(target);
    if (!gone && sameValue(meant, value)) return;
    const plain = bare(value);
    const extends_ =
      !gone &&
      isMapping(meant) &&
      isMapping(plain) &&
      Object.keys(meant).every((key) => Object.hasOwn(plain, key));
    if (!extends_) {
      this.#replace(node, context, { value });
      return;
    }
    const own = Object.entries(plain).filter(
      ([key, item]) => !Object.hasOwn(meant, key) || !sameValue(meant[key], item),
    );
    this.#replace(node, context, {
      value: Object.fromEntries(own),
      merge: `*${node.source}`,
    });
  }

  #visitMap(node: YAMLMap, value: Record<string, unknown>, context: Context): void {
    const places = this.#source.pairs(node);
    const inFlow = context.inFlow || node.flow === true;
    const column = inFlow ? context.column : this.#source.column(places[0]?.start ?? context.place.end);
    const own = new Set<string>();
    const dropped: number[] = [];
    const keys = new Set(node.items.map(keyText));
    const goes = (key: string) => !Object.hasOwn(value, key);
    if (
      this.#isWrittenAnew(
        node,
        [...keys].some(goes),
        Object.keys(value).some((key) => !keys.has(key)),
      )
    ) {
      this.#replace(node, context, { value });
      return;
    }
    node.items.forEach((pair, i) => {
      if (isMerge(pair)) return;
      const key = keyText(pair);
      own.add(key);
      if (goes(key)) {
        dropped.push(i);
        this.#anchors.leave(pair.value);
      } else {
        const inner: Context = {
          kind: "pair",
          place: places[i]!,
          inFlow,
          column,
          step: this.#step,
          path: [...context.path, key],
        };
        this.#visit(pair.value as Node | null, value[key], inner);
      }
    });
    const inherited = this.#anchors.inherited(node, new Set(Object.keys(value)));
    for (const key of Object.keys(inherited)) {
      if (!Object.hasOwn(value, key))
        throw new CannotEdit(
          `"${key}" comes in through "<<" and cannot be left out here`,
          offsetOf(node, context),
        );
    }
    const added = Object.entries(value).filter(
      ([key, item]) => !own.has(key) && !(Object.hasOwn(inherited, key) && sameValue(inherited[key], item)),
    );
    const shape = { node, places, inFlow: node.flow === true, column, step: this.#step };
    if (dropped.length > 0) deleteEntries(this.#source, this.#splices, shape, dropped);
    if (added.length > 0) {
      const at = this.#sectionEnd(shape.places, column);
      const from = context.kind === "root" ? 0 : Math.max(context.place.lead, context.place.start);
      const kept = [...own].filter((key) => Object.hasOwn(value, key));
      // What overrides a merge key has no place in the order.
      const order = Object.keys(value).filter((key) => !Object.hasOwn(inherited, key));
      insertIntoMap(
        this.#source,
        this.#splices,
        { ...shape, dropped, from, keys: kept },
        { at, column, step: this.#step },
        added,
        order,
      );
    }
  }

  #sectionEnd(places: readonly { end: number }[], column: number): number {
    const last = places[places.length - 1];
    return last === undefined ? 0 : this.#source.pastComments(this.#source.afterLine(last.end), column);
  }

  #visitList(node: YAMLSeq, value: readonly unknown[], context: Context): void {
    const places = this.#source.items(node);
    const inFlow = context.inFlow || node.flow === true;
    const column = inFlow ? context.column : this.#source.column(places[0]?.start ?? context.place.end);
    const before = this.#parsed.valueOf(node) as unknown[];
    const dropped: number[] = [];
    const added: NewItem[] = [];
    let last = -1;
    const steps = alignValues(before, value, (i) =>
      this.#towardsSet.has(JSON.stringify([...context.path, i])),
    );
    const some = (kind: Alignment["kind"]) => steps.some((step) => step.kind === kind);
    if (this.#isWrittenAnew(node, some("drop"), some("add"))) {
      this.#replace(node, context, { value });
      return;
    }
    for (const step of steps) {
      if (step.kind === "add") added.push({ after: last, value: value[step.next] });
      else {
        last = step.old;
        if (step.kind === "drop") {
          dropped.push(step.old);
          this.#anchors.leave(node.items[step.old]);
        } else {
          this.#visit(node.items[step.old] as Node, value[step.next], {
            kind: "item",
            place: places[step.old]!,
            inFlow,
            column,
            step: this.#step,
            path: [...context.path, step.next],
          });
        }
      }
    }
    const shape = { node, places, inFlow: node.flow === true, column, step: this.#step };
    if (added.length > 0 && (node.items.length === 0 || dropped.length === node.items.length))
      this.#replace(node, context, { value });
    else {
      if (dropped.length > 0) deleteEntries(this.#source, this.#splices, shape, dropped);
      if (added.length > 0)
        insertIntoList(
          this.#source,
          this.#splices,
          { ...shape, dropped },
          added,
          this.#sectionEnd(places, column + 1),
        );
    }
  }
}
