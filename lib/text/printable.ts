import { stripVTControlCharacters } from "node:util";

/**
 * A text of unknown origin (an agent's words, a task's id) as one line that a terminal only shows and never obeys:
 * escape sequences go, blanks and line ends become one blank, other control characters and those that turn the
 * direction of writing become `\ufffd`.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** The same for a text of several lines, whose lines and indentation stay. */
export function printableLines(text: string): string {
  return stripVTControlCharacters(text).replace(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
