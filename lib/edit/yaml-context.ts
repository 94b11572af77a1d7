import type { Node } from "yaml";
import type { EntryPlace, YamlSource } from "./yaml-source.ts";

/** A piece of text that takes the place of another. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** Where a node stands: what is around it decides how a value is written there. */
export interface Context {
  kind: "pair" | "item" | "root";
  place: EntryPlace;
  /** Whether it stands between `{}` or `[]`. */
  inFlow: boolean;
  /** Column of the mapping or list it is in; 0 for the root. */
  column: number;
  /** Blanks that a level goes in by. */
  step: number;
  path: readonly (string | number)[];
}

/** What cannot be written as an edit; the caller says in which file. */
export class CannotEdit extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Edits collected for one text, put in together. */
export class Splices {
  readonly #all: Splice[] = [];

  add(start: number, end: number, text: string): void {
    this.#all.push({ start, end, text });
  }

  /** The text with all edits; those at one place stay in the order in which they came. */
  apply(source: YamlSource): string {
    const sorted = this.#all
      .map((splice, order) => ({ ...splice, order }))
      .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
    const parts: string[] = [];
    let at = 0;
    for (const { start, end, text } of sorted) {
      if (start < at) throw new CannotEdit("Two changes meet in one place", start);
      parts.push(source.text.slice(at, start), text);
      at = end;
    }
    return parts.join("") + source.text.slice(at);
  }
}

/** Offset for messages. */
export function offsetOf(node: Node | null, context: Context): number {
  return node?.range?.[0] ?? Math.max(context.place.start, 0);
}
