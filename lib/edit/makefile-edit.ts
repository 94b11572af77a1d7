import { BatError, type Problem, problemsError } from "../errors.ts";

/** A line as make sees it: with the lines that it is continued on. */
interface LogicalLine {
  /** Offsets in the text, without the last line end. */
  start: number;
  end: number;
  /** 1 for the first. */
  number: number;
  text: string;
}

/** Characters that neither make nor a shell does anything with. */
const HARMLESS = /^[A-Za-z0-9._/:@+-]*$/;

/**
 * Sets variables in a Makefile, each on its own lines: `NAME = …`, `NAME := …`, `NAME ::= …` or `NAME ?= …` at the
 * beginning of a line, all of them where there are several. The comment behind a value moves to a line of its own
 * above it, for make would keep the blanks before it in the value. Line ends stay.
 *
 * @param file its name, for messages
 * @param values by name (letters, digits and `_`); only letters, digits and `._/:@+-`: nothing that make or a shell would
 *   act on
 * @throws BatError (code `config`) that lists every variable that cannot be set, and why; nothing is changed then
 */
export function setMakeVariables(
  text: string,
  file: string,
  values: Readonly<Record<string, string>>,
): string {
  const problems: Problem[] = [];
  let result = text;
  for (const [name, value] of Object.entries(values)) {
    if (!HARMLESS.test(value)) {
      problems.push({
        message: `${name} cannot be "${value}": only letters, digits and . _ / : @ + - are allowed`,
      });
      continue;
    }
    const lines = logicalLines(result);
    const problem = cannotSet(lines, name, file);
    if (problem === null) result = replaceAll(result, lines, name, value);
    else problems.push(problem);
  }
  if (problems.length > 0)
    throw problemsError("config", `Cannot edit ${file}, nothing was written:`, problems);
  for (const [name, value] of Object.entries(values)) {
    const wrong = assignments(logicalLines(result), name).find((found) => found.value !== value);
    if (wrong !== undefined)
      throw new BatError("config", `Cannot edit ${file}: ${name} would be "${wrong.value}"`);
  }
  return result;
}

/** Value of a variable as the Makefile's first own line of it has it, unexpanded; undefined where there is none. */
export function makeVariable(text: string, name: string): string | undefined {
  return assignments(logicalLines(text), name)[0]?.value;
}

function logicalLines(text: string): LogicalLine[] {
  const lines: LogicalLine[] = [];
  let at = 0;
  let number = 1;
  let depth = 0;
  while (at < text.length) {
    const start = at;
    const first = number;
    let end: number;
    for (;;) {
      const newline = text.indexOf("\n", at);
      end = newline === -1 ? text.length : newline;
      at = newline === -1 ? text.length : newline + 1;
      number += 1;
      const line = text.slice(start, end).replace(/\r$/, "");
      if (newline === -1 || /\\*$/.exec(line)![0].length % 2 === 0) break;
    }
    if (text[end - 1] === "\r") end -= 1;
    const line = { start, end, number: first, text: text.slice(start, end) };
    const wasInside = depth > 0;
    if (/^ *(?:override +|export +)*define\b/.test(line.text)) depth += 1;
    else if (depth > 0 && /^ *endef\b/.test(line.text)) depth -= 1;
    // What stands between define and endef is text, not assignments.
    if (!wasInside) lines.push(line);
  }
  return lines;
}

interface Assignment {
  line: LogicalLine;
  /** `NAME :=` with the blanks around it. */
  head: string;
  value: string;
  comment: string;
}

function assignments(lines: readonly LogicalLine[], name: string): Assignment[] {
  const form = new RegExp(String.raw`^(${name}[ \t]*(?:\?=|::=|:=|=)(?!=)[ \t]*)([\s\S]*)$`);
  const found: Assignment[] = [];
  for (const line of lines) {
    const match = form.exec(line.text);
    if (match === null) continue;
    const [, head = "", rest = ""] = match;
    // A `#` behind a backslash is text, behind two it begins a comment.
    const before = /(?<!\\)(?:\\\\)*(?=#)/.exec(rest);
    const hash = before === null ? rest.length : before.index + before[0].length;
    found.push({ line, head, value: rest.slice(0, hash).trim(), comment: rest.slice(hash).trim() });
  }
  return found;
}

function cannotSet(lines: readonly LogicalLine[], name: string, file: string): Problem | null {
  const own = assignments(lines, name);
  // Of lines that all set it only where it is not set yet, the first one counts.
  const first = own.every(({ head }) => head.includes("?")) ? own[0]?.line.start : undefined;
  const indented = new RegExp(String.raw`^[ ]+${name}[ \t]*\?=`);
  const other = lines.find(
    ({ text, start }) =>
      setsOtherwise(text, name) || (first !== undefined && start < first && indented.test(text)),
  );
  if (other !== undefined) {
    return {
      file,
      place: `line ${other.number}`,
      message: `${name} is set in a way that only you can change: "${other.text.split(/\r?\n/)[0]!.trim()}"; edit it by hand`,
    };
  }
  if (own.length > 0) return null;
  return {
    file,
    message: `There is no line "${name} ?= …", "${name} := …", "${name} ::= …" or "${name} = …" (not indented): it names its image some other way; edit it by hand`,
  };
}

/**
 * `override`, `export`, `define`, `+=`, `!=`, `:::=`, indented lines and values for one target: a plain line would not be
 * what counts.
 */
function setsOtherwise(text: string, name: string): boolean {
  const word = String.raw`${name}[ \t]*`;
  return (
    new RegExp(String.raw`^[ ]*(?:override|export|private|unexport)[ \t].*\b${word}(?:[?+!]|:{1,3})?=`).test(
      text,
    ) ||
    new RegExp(String.raw`^[ ]*(?:(?:override|export)[ \t]+)*define[ \t]+${word}`).test(text) ||
    new RegExp(String.raw`^[ ]*${word}(?:\+=|!=|:::=)`).test(text) ||
    new RegExp(`^[ ]+${word}:{0,2}=`).test(text) ||
    new RegExp(
      String.raw`^[^\t#=][^#=]*:[ \t]*(?:(?:override|export|private)[ \t]+)*${word}(?:[?+!]|:{1,3})?=`,
    ).test(text)
  );
}

function replaceAll(text: string, lines: readonly LogicalLine[], name: string, value: string): string {
  let result = text;
  for (const { line, head, value: old, comment } of assignments(lines, name).reverse()) {
    if (old === value) continue;
    const eol = /\r?\n/.exec(text)?.[0] ?? "\n";
    const above = comment === "" ? "" : `${comment}${eol}`;
    const gap = /[ \t]$/.test(head) || !/[ \t][?:]*=$/.test(head) || value === "" ? "" : " ";
    const written = `${above}${head}${gap}${value}`;
    result =
      result.slice(0, line.start) + (value === "" ? written.trimEnd() : written) + result.slice(line.end);
  }
  return result;
}
