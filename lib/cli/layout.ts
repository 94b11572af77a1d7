import { stripVTControlCharacters } from "node:util";

/** Breaks a text at blanks into lines of at most `columns`; its own line ends stay. */
export function wrap(text: string, columns: number): string[] {
  const width = Math.max(columns, 10);
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let current = "";
    for (const word of line.split(" ")) {
      if (current !== "" && displayWidth(current) + 1 + displayWidth(word) > width) {
        lines.push(current);
        current = word;
      } else {
        current = current === "" ? word : `${current} ${word}`;
      }
    }
    return [...lines, current];
  });
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const segmenter = new Intl.Segmenter();

/** How many columns a terminal needs for a text. */
export function displayWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of segmenter.segment(plain))
    width += WIDE.test(segment) ? 2 : /^\p{M}+$/u.test(segment) ? 0 : 1;
  return width;
}

/** Cuts a text to a width, with `…` where something is lost. */
export function fit(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let out = "";
  let used = 0;
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) {
    const more = displayWidth(segment);
    if (used + more > width - 1) break;
    out += segment;
    used += more;
  }
  return `${out}…`;
}

/** Pads a text to a width. */
export function pad(text: string, width: number, side: "left" | "right" = "right"): string {
  const blanks = " ".repeat(Math.max(0, width - displayWidth(text)));
  return side === "right" ? text + blanks : blanks + text;
}

/** Rows as aligned columns; numbers are put to the right. The first column shrinks where the terminal is narrow. */
export function columnsText(
  rows: readonly (readonly string[])[],
  right: readonly boolean[],
  limit: number,
): string[] {
  const widths = right.map((_, i) => Math.max(...rows.map((row) => displayWidth(row[i] ?? ""))));
  const rest = widths.slice(1).reduce((sum, width) => sum + width + 2, 0);
  widths[0] = Math.min(widths[0] ?? 0, Math.max(limit - rest, 12));
  return rows.map((row) =>
    widths
      .map((width, i) => pad(fit(row[i] ?? "", width), width, right[i] === true ? "left" : "right"))
      .join("  ")
      .trimEnd(),
  );
}
