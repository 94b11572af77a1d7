import { displayWidth } from "../lib/cli/layout.ts";

/** What a terminal of a given size shows of the bytes written to it; knows the sequences that `bat` uses and no other. */
export class Screen {
  columns: number;
  rows: number;
  readonly #lines: string[] = [""];
  #row = 0;
  #column = 0;
  /** Sequences that it does not know: a program that leaks escapes leaves them here. */
  readonly unknown: string[] = [];

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\u001b\[[0-9;?]*[A-Za-z]|\u001b.?|[^\u001b]/gsu)) this.#take(part);
  }

  /** Everything from the first line written to the last, blanks at line ends left out. */
  get text(): string {
    return this.#lines.map((line) => line.trimEnd()).join("\n");
  }

  /** The window has another width: long lines are broken anew, as most terminals do. */
  reflow(columns: number): void {
    const broken = this.#lines.map((line) => line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""]);
    this.#row = broken.slice(0, this.#row).reduce((sum, parts) => sum + parts.length, 0);
    this.#lines.splice(0, this.#lines.length, ...broken.flat());
    this.columns = columns;
  }

  #take(part: string): void {
    if (part === "\n") this.#newLine();
    else if (part === "\r") this.#column = 0;
    else if (/^\u001b\[[0-9;]*m$/.test(part)) return;
    else if (/^\u001b\[\d+A$/.test(part)) this.#up(Number(part.slice(2, -1)));
    else if (part === "\u001b[K") this.#erase();
    else if (part === "\u001b[J") {
      this.#erase();
      this.#lines.length = this.#row + 1;
    } else if (/^\p{Cc}/u.test(part)) this.unknown.push(part);
    else this.#print(part);
  }

  /** A terminal's driver makes a carriage return of it too. */
  #newLine(): void {
    this.#column = 0;
    this.#row += 1;
    if (this.#row === this.#lines.length) this.#lines.push("");
  }

  /** No further than the top of what is shown. */
  #up(count: number): void {
    this.#row = Math.max(this.#row - count, this.#lines.length - this.rows, 0);
  }

  #erase(): void {
    this.#lines[this.#row] = [...this.#lines[this.#row]!].slice(0, this.#column).join("");
  }

  #print(letter: string): void {
    if (this.#column + displayWidth(letter) > this.columns) this.#newLine();
    const line = [...this.#lines[this.#row]!.padEnd(this.#column)];
    line[this.#column] = letter;
    this.#lines[this.#row] = line.join("");
    this.#column += 1;
  }
}
