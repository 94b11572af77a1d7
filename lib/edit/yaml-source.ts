import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

interface Token {
  type: string;
  offset: number;
  source: string;
}

/** Where an entry of a mapping or list is in the text. All offsets. */
export interface EntryPlace {
  /** First character: of the key with its properties, or the dash of a list's item (flow: of the item itself). */
  start: number;
  /** Just after the `:` or `-`; -1 where there is none. */
  lead: number;
  /** End of the key; of a list's item, its start. */
  keyEnd: number;
  /** Just after anchor and tag, where the value has some; else `lead`. */
  propertiesEnd: number;
  /** Where value with its properties begins, -1 where there is no text for it. */
  valueStart: number;
  /** Just after the last character of the value (of a block scalar: after its last line end). */
  end: number;
}

/** The text of a YAML file, its lines, and where nodes begin and end in it. */
export class YamlSource {
  readonly text: string;
  /** Line end of the file's first line. */
  readonly eol: string;

  constructor(text: string) {
    this.text = text;
    this.eol = /\r?\n/.exec(text)?.[0] ?? "\n";
  }

  lineStart(offset: number): number {
    // Before offset 0 there is nothing to look at, which lastIndexOf takes for a look at 0.
    const start = offset === 0 ? 0 : this.text.lastIndexOf("\n", offset - 1) + 1;
    return start === 0 && this.text.startsWith("\ufeff") && offset > 0 ? 1 : start;
  }

  /** Start of the next line; of this one when the offset is a line's start already behind something (`end` of entries). */
  afterLine(offset: number): number {
    if (offset > 0 && this.text[offset - 1] === "\n") return offset;
    const end = this.text.indexOf("\n", offset);
    return end === -1 ? this.text.length : end + 1;
  }

  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  /** Whether only blanks stand before it in its line. */
  isFirstInLine(offset: number): boolean {
    return this.text.slice(this.lineStart(offset), offset).trim() === "";
  }

  sameLine(a: number, b: number): boolean {
    return this.lineStart(a) === this.lineStart(b);
  }

  /** Line end in use around a place. */
  eolAt(offset: number): string {
    const before = offset === 0 ? -1 : this.text.lastIndexOf("\n", offset - 1);
    if (before === -1) return this.eol;
    return this.text[before - 1] === "\r" ? "\r\n" : "\n";
  }

  /** Text for whole lines inserted at a line's start, or behind a last line that has no end. */
  lines(lines: readonly string[], offset: number): string {
    const eol = this.eolAt(offset);
    const open = offset > 0 && this.text[offset - 1] !== "\n" && this.text.slice(0, offset) !== "\ufeff";
    return open ? eol + lines.join(eol) : lines.join(eol) + eol;
  }

  /** From a line's start on, past the comments that stand at `column` or further in. */
  pastComments(offset: number, column: number): number {
    let end = offset;
    let at = offset;
    while (at < this.text.length) {
      const lineEnd = this.text.indexOf("\n", at);
      const next = lineEnd === -1 ? this.text.length : lineEnd + 1;
      const line = this.text.slice(at, next);
      if (line.trim() !== "") {
        const comment = /^([ \t]*)#/.exec(line);
        if (comment === null || comment[1]!.length < column) break;
        end = next;
      }
      at = next;
    }
    return end;
  }

  /** Places of a mapping's pairs. */
  pairs(map: YAMLMap): EntryPlace[] {
    return (map.items as Pair<Node, Node | null>[]).map((pair) => this.pair(pair));
  }

  pair(pair: Pair<Node, Node | null>): EntryPlace {
    const token = pair.srcToken as { start: Token[]; sep?: Token[] } | undefined;
    const own = token?.start.find(({ type }) => /^(explicit-key-ind|anchor|tag)$/.test(type));
    const keyStart = pair.key?.range?.[0] ?? token?.sep?.[0]?.offset ?? 0;
    const keyEnd = pair.key?.range?.[1] ?? keyStart;
    const colon = token?.sep?.find(({ type }) => type === "map-value-ind");
    const lead = colon === undefined ? -1 : colon.offset + 1;
    return {
      start: Math.min(own?.offset ?? keyStart, keyStart),
      keyEnd,
      ...this.#value(pair.value, token?.sep ?? [], lead, keyEnd),
    };
  }

  /** Places of a list's items. */
  items(list: YAMLSeq): EntryPlace[] {
    const tokens = (list.srcToken as { items?: { start: Token[] }[] } | undefined)?.items ?? [];
    return (list.items as Node[]).map((node, i) => {
      const start = tokens[i]?.start ?? [];
      const dash = list.flow === true ? undefined : start.find(({ type }) => type === "seq-item-ind");
      const lead = dash === undefined ? -1 : dash.offset + 1;
      const property = start.find(({ type }) => type === "anchor" || type === "tag");
      const itemStart = this.#nodeStart(node) ?? lead;
      const begin = dash?.offset ?? Math.min(property?.offset ?? itemStart, itemStart);
      return { start: begin, keyEnd: begin, ...this.#value(node, start, lead, begin) };
    });
  }

  #nodeStart(node: unknown): number | undefined {
    const pair = node as Pair<Node, Node | null>;
    return (node as Node | null)?.range?.[0] ?? pair?.key?.range?.[0];
  }

  #value(node: unknown, tokens: readonly Token[], lead: number, fallback: number) {
    const properties = tokens.filter(
      ({ type, offset }) => (type === "anchor" || type === "tag") && offset >= lead,
    );
    const last = properties[properties.length - 1];
    const propertiesEnd = last === undefined ? lead : last.offset + last.source.length;
    const range = (node as Node | null)?.range;
    const written = range !== undefined && range !== null && range[1] > range[0];
    const valueStart = properties[0]?.offset ?? (written ? range[0] : -1);
    const end = written ? this.contentEnd(node as Node) : Math.max(propertiesEnd, lead, fallback);
    return { lead, propertiesEnd, valueStart, end };
  }

  /** Where the text of a node ends, without comments and blank lines behind it. */
  contentEnd(node: Node): number {
    const [, end] = node.range!;
    if (isScalar(node) || !((isMap(node) || isSeq(node)) && node.flow !== true)) return end;
    const places = isMap(node) ? this.pairs(node) : this.items(node);
    return places[places.length - 1]?.end ?? end;
  }

  /** `end` without a block scalar's last line end. */
  trimmedEnd(start: number, end: number): number {
    let at = end;
    while (at > start && /[\r\n]/.test(this.text[at - 1]!)) at -= 1;
    return at;
  }
}

/** How far one level goes in, as most of the file has it: of the first one found. */
export function indentStep(root: unknown, source: YamlSource): number {
  const queue: { node: unknown; column: number }[] = [{ node: root, column: 0 }];
  for (const { node, column } of queue) {
    if (!isMap(node) || node.flow === true || queue.length > 200) continue;
    for (const { value } of node.items) {
      if (!(isMap(value) || isSeq(value)) || value.flow === true || value.items.length === 0) continue;
      const inner = source.column(value.range![0]);
      if (isMap(value) && inner > column && inner - column <= 8) return inner - column;
      queue.push({ node: value, column: inner });
    }
  }
  return 2;
}
