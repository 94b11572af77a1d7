import type { Writable } from "node:stream";
import { displayWidth, fit } from "../cli/layout.ts";
import type { Painter, Style } from "./paint.ts";

/** Printable text and how it looks. */
export type Segment = readonly [text: string, style?: Style];
export type Line = readonly Segment[];

/** A stream that is a terminal: Node keeps its size up to date. */
type Terminal = Writable & { columns?: number; rows?: number };

/**
 * Lines at the end of a terminal that are drawn again in place. Each drawing is one write that leaves the cursor below
 * the block; the cursor is never hidden and no mode is set, so nothing is to be put back, however the process ends.
 */
export class LiveBlock {
  readonly #terminal: Terminal;
  readonly #paint: Painter;
  /** Widths of the lines that are on the screen. */
  #drawn: number[] = [];

  constructor(terminal: Writable, paint: Painter) {
    this.#terminal = terminal;
    this.#paint = paint;
  }

  /** How many lines may be drawn: more than the screen has could not be drawn over. */
  get height(): number {
    return Math.max((this.#terminal.rows ?? 24) - 1, 1);
  }

  /** The last column stays free, for some terminals go on to the next line when it is filled. */
  get width(): number {
    return Math.max((this.#terminal.columns ?? 80) - 1, 10);
  }

  draw(lines: readonly Line[]): void {
    const fitted = lines.slice(0, this.height).map((line) => fitLine(line, this.width));
    const text = fitted.map((line) => `${this.#painted(line)}\u001b[K\n`).join("");
    this.#terminal.write(`${this.#toTop()}${text}\u001b[J`);
    this.#drawn = fitted.map((line) => displayWidth(line.map(([part]) => part).join("")));
  }

  /** Takes the block away; `text`, of whole lines, is left where it was. */
  clear(text = ""): void {
    if (this.#drawn.length > 0 || text !== "")
      this.#terminal.write(`${this.#toTop()}${this.#erase()}${text}`);
    this.#drawn = [];
  }

  #erase(): string {
    return this.#drawn.length > 0 ? "\u001b[J" : "";
  }

  /** A terminal that has become narrower shows a long line as several. */
  #toTop(): string {
    const columns = this.#terminal.columns ?? 80;
    const rows = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows > 0 ? `\r\u001b[${rows}A` : "";
  }

  #painted(line: Line): string {
    return line.map(([text, style]) => (style === undefined ? text : this.#paint(style, text))).join("");
  }
}

function fitLine(line: Line, width: number): Line {
  const widths = line.map(([text]) => displayWidth(text));
  if (widths.reduce((sum, one) => sum + one, 0) <= width) return line;
  const kept: Segment[] = [];
  let left = width;
  for (const [i, [text, style]] of line.entries()) {
    const cut = widths[i]! >= left;
    // The blanks make a text that just fits be cut too: what follows it is lost.
    const shown = cut ? fit(`${text}  `, left) : text;
    kept.push(style === undefined ? [shown] : [shown, style]);
    if (cut) break;
    left -= widths[i]!;
  }
  return kept;
}
