import { isMap, isScalar, isSeq, type Node } from "yaml";
import type { Context, Splices } from "./yaml-context.ts";
import { bare, isBlock, renderBlock, renderEntry, renderFlow } from "./yaml-render.ts";
import { renderKey } from "./yaml-scalar.ts";
import type { YamlSource } from "./yaml-source.ts";

/** What is to stand in a node's place: a value, and the alias that it takes the rest from (`<<: *alias`). */
export interface Replacement {
  value: unknown;
  /** With the star. */
  merge?: string;
}

/**
 * Writes another value in a node's place. An anchor stays, a tag goes (it says what the old value was), comments stay
 * but for those inside what is replaced.
 */
export function replaceNode(
  source: YamlSource,
  splices: Splices,
  node: Node | null,
  context: Context,
  replacement: Replacement,
): void {
  const anchor = (node as { anchor?: string } | null)?.anchor;
  const target: Target = {
    source,
    splices,
    node,
    context,
    prefix: anchor === undefined ? "" : `&${anchor} `,
  };
  const block = replacement.merge !== undefined || isBlock(replacement.value);
  if (context.inFlow) inline(target, flowText(replacement));
  else if (!block) inline(target, renderFlow(replacement.value, false));
  else if (context.kind === "pair")
    blockInPair(target, blockLines(replacement, context, context.column + context.step));
  else blockInItem(target, (indent) => blockLines(replacement, context, indent));
}

interface Target {
  source: YamlSource;
  splices: Splices;
  node: Node | null;
  context: Context;
  /** Its anchor, with a blank, or nothing. */
  prefix: string;
}

function flowText({ value, merge }: Replacement): string {
  if (merge === undefined) return renderFlow(value);
  const own = Object.entries(bare(value) as Record<string, unknown>);
  const entries = own.map(([key, item]) => `${renderKey(key, true)}: ${renderFlow(item)}`);
  return `{${[`<<: ${merge}`, ...entries].join(", ")}}`;
}

function blockLines({ value, merge }: Replacement, { step }: Context, indent: number): string[] {
  if (merge === undefined) return renderBlock(value, indent, step);
  const own = Object.entries(bare(value) as Record<string, unknown>);
  return [
    `${" ".repeat(indent)}<<: ${merge}`,
    ...own.flatMap(([key, item]) => renderEntry(key, item, indent, step)),
  ];
}

/** A collection that has lines of its own, below its key. */
function onOwnLines({ source, node, context }: Target): boolean {
  if (!(isMap(node) || isSeq(node)) || node.flow === true) return false;
  return context.kind !== "root" && !source.sameLine(node.range![0], context.place.lead);
}

/** One line of text in the place of whatever was there. */
function inline(target: Target, text: string): void {
  const { source, splices, node, context, prefix } = target;
  const { lead, propertiesEnd, valueStart, keyEnd, end } = context.place;
  if (!isWritten(node)) {
    if (context.kind === "root") splices.add(end, end, text);
    else if (lead === -1) splices.add(keyEnd, keyEnd, `: ${text}`);
    else splices.add(propertiesEnd, propertiesEnd, ` ${text}`);
  } else if (onOwnLines(target)) {
    splices.add(propertiesEnd, propertiesEnd, ` ${text}`);
    splices.add(source.lineStart(node.range![0]), source.afterLine(end), "");
  } else if (isBlockScalar(source, node)) {
    const { comment, tail } = aroundBlockScalar(source, node);
    splices.add(valueStart, end, prefix + text + comment + tail);
  } else {
    const stop = source.trimmedEnd(valueStart, end);
    splices.add(
      source.sameLine(valueStart, node.range![0]) ? valueStart : node.range![0],
      stop,
      prefix + text,
    );
  }
}

/** Whether a node has text of its own: nothing stands for null, too. */
function isWritten(node: Node | null): node is Node {
  return node?.range !== undefined && node.range !== null && node.range[1] > node.range[0];
}

function isBlockScalar(source: YamlSource, node: Node): boolean {
  return isScalar(node) && /[|>]/.test(source.text[node.range![0]]!) && /^BLOCK/.test(node.type ?? "");
}

/** The comment behind a block scalar's header, and the line ends that it ends with. */
function aroundBlockScalar(source: YamlSource, node: Node): { comment: string; tail: string } {
  const text = source.text.slice(node.range![0], node.range![1]);
  const header = /^[|>][^\s#]*([ \t]+#[^\r\n]*)?/.exec(text)!;
  return { comment: header[1] ?? "", tail: /(?:\r?\n[ \t]*)*$/.exec(text)![0] };
}

/** Lines below a key. */
function blockInPair(target: Target, lines: readonly string[]): void {
  const { source, splices, node, context, prefix } = target;
  const { propertiesEnd, end, lead } = context.place;
  if (!isWritten(node)) {
    const at = source.afterLine(Math.max(propertiesEnd, lead));
    splices.add(at, at, source.lines(lines, at));
  } else if (onOwnLines(target) || !source.sameLine(node.range![0], lead)) {
    const start = source.lineStart(node.range![0]);
    splices.add(start, source.afterLine(end), source.lines(lines, start));
  } else if (isBlockScalar(source, node)) {
    const { comment } = aroundBlockScalar(source, node);
    const eol = source.eolAt(end);
    splices.add(
      lead,
      end,
      `${prefix === "" ? "" : ` ${prefix.trimEnd()}`}${comment}${eol}${lines.join(eol)}${eol}`,
    );
  } else {
    splices.add(lead, end, prefix === "" ? "" : ` ${prefix.trimEnd()}`);
    const at = source.afterLine(end);
    splices.add(at, at, source.lines(lines, at));
  }
}

/** Lines that begin behind a list's dash, or at the beginning of the file; below the anchor where there is one. */
function blockInItem(
  { source, splices, node, context, prefix }: Target,
  linesAt: (indent: number) => readonly string[],
): void {
  const { propertiesEnd, lead, end } = context.place;
  const written = isWritten(node);
  const start = written ? node.range![0] : Math.max(propertiesEnd, lead);
  const stop = written ? source.trimmedEnd(start, end) : start;
  const eol = source.eolAt(end);
  const deep = context.kind === "root" ? 0 : context.column + 2;
  if (prefix !== "") {
    // On the anchor's own line it would be the first key's.
    splices.add(propertiesEnd, stop, `${eol}${linesAt(deep).join(eol)}`);
    return;
  }
  const lines = linesAt(written && context.kind !== "root" ? source.column(start) : deep);
  const text = [lines[0]!.trimStart(), ...lines.slice(1)].join(eol);
  splices.add(start, stop, written ? text : ` ${text}`);
}
