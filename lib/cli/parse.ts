import { cac } from "cac";
import { BatError } from "../errors.ts";
import { didYouMean } from "../text/nearest.ts";
import type { ArgSpec, Command, FlagSpec } from "./command.ts";

/** Flags that every command has. */
export const COMMON_FLAGS: Readonly<Record<string, FlagSpec>> = {
  cwd: { type: "string", short: "C", value: "DIR", summary: "Run as if from this folder" },
  "no-color": { type: "boolean", summary: "No colours" },
  help: { type: "boolean", short: "h", summary: "Show this help" },
};

/** What was read from the words behind a command. */
export interface Parsed {
  args: Record<string, string | string[] | undefined>;
  flags: Record<string, unknown>;
  cwd: string | null;
  help: boolean;
}

/** Keeps cac from reading numbers and booleans into values. */
const GUARD = "\u0000=";

interface Known {
  name: string;
  spec: FlagSpec;
  /** Given as `--no-NAME`. */
  negated: boolean;
}

/**
 * Reads the words behind a command by its specification. A value stays the text that was typed; numbers are converted
 * only where the command says number.
 *
 * @throws BatError (code `usage`) that names the flag or argument, what was read and what is allowed
 */
export function parse(command: Command, words: readonly string[]): Parsed {
  const specs = { ...command.flags, ...COMMON_FLAGS };
  const known = knownSpellings(specs);
  const { given, positional } = splitWords(words, known);
  const values = readWithCac(given);
  const flags: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs))
    flags[name] = flagValue(name, spec, values.get(name) ?? []);
  const help = flags.help === true;
  const args = help ? {} : readArgs(command.args ?? [], positional);
  if (!help) for (const [name, spec] of Object.entries(specs)) requireFlag(name, spec, flags[name]);
  return { args, flags, cwd: (flags.cwd as string | undefined) ?? null, help };
}

/** Every way to spell a flag: long name, aliases, letter, `--no-` form; underscores are dashes. */
function knownSpellings(specs: Readonly<Record<string, FlagSpec>>): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const [name, spec] of Object.entries(specs)) {
    for (const long of [name, ...(spec.aliases ?? [])])
      known.set(`--${long}`, { name, spec, negated: false });
    const short = name.length === 1 ? name : spec.short;
    if (short !== undefined) known.set(`-${short}`, { name, spec, negated: false });
    if (spec.type === "boolean" && spec.negatable === true)
      known.set(`--no-${name}`, { name, spec, negated: true });
  }
  return known;
}

/** A flag as it was typed, with the value that belongs to it. */
interface Given {
  name: string;
  spelling: string;
  value: string;
}

function splitWords(words: readonly string[], known: ReadonlyMap<string, Known>) {
  const given: Given[] = [];
  const positional: string[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    if (word === "--") {
      positional.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positional.push(word);
      continue;
    }
    const { spelling, attached } = splitFlag(word, known);
    const flag = known.get(spelling);
    if (flag === undefined) throw unknownFlag(spelling, known);
    if (flag.spec.type === "boolean") {
      if (attached !== null) throw usage(`${spelling} takes no value, got "${attached}"`);
      given.push({ name: flag.name, spelling, value: flag.negated ? "no" : "yes" });
      continue;
    }
    const value = attached ?? words[i + 1];
    if (value === undefined || (attached === null && isFlag(value, known)))
      throw usage(`${spelling} needs a value`);
    if (attached === null) i += 1;
    given.push({ name: flag.name, spelling, value });
  }
  return { given, positional };
}

/** `--flag=value`, `-f value`, `-fvalue`; `--model_provider` is `--model-provider`. */
function splitFlag(
  word: string,
  known: ReadonlyMap<string, Known>,
): { spelling: string; attached: string | null } {
  const equals = word.indexOf("=");
  const head = equals === -1 ? word : word.slice(0, equals);
  const attached = equals === -1 ? null : word.slice(equals + 1);
  if (word.startsWith("--"))
    return { spelling: known.has(head) ? head : `--${head.slice(2).replaceAll("_", "-")}`, attached };
  if (head.length > 2 && known.has(head.slice(0, 2)))
    return { spelling: word.slice(0, 2), attached: word.slice(2) };
  return { spelling: head, attached };
}

/** A word after a flag that is itself a flag: then the value was forgotten. Negative numbers and `-` are values. */
function isFlag(word: string, known: ReadonlyMap<string, Known>): boolean {
  return word === "--" || (word.startsWith("-") && known.has(splitFlag(word, known).spelling));
}

function unknownFlag(spelling: string, known: ReadonlyMap<string, Known>): BatError {
  const hint = didYouMean(
    spelling,
    [...known.keys()].filter((name) => name.startsWith("--")),
  );
  return usage(`Unknown flag "${spelling}"${hint}`);
}

/** cac collects the flags; each value goes through it guarded, so that it comes out as it went in. */
function readWithCac(given: readonly Given[]): Map<string, string[]> {
  const parser = cac("bat");
  const names = [...new Set(given.map(({ name }) => name))];
  const keys = new Map(names.map((name, i) => [name, `f${i}`]));
  for (const key of keys.values()) parser.option(`--${key} <value>`, "");
  const argv = given.flatMap(({ name, value }) => [`--${keys.get(name)}`, `${GUARD}${value}`]);
  const { options } = parser.parse(["node", "bat", ...argv], { run: false });
  const values = new Map<string, string[]>();
  for (const [name, key] of keys) {
    const read: unknown = options[key];
    values.set(
      name,
      (Array.isArray(read) ? read : [read]).map((value) => String(value).slice(GUARD.length)),
    );
  }
  return values;
}

function flagValue(name: string, spec: FlagSpec, values: readonly string[]): unknown {
  if (spec.type === "list") return [...values];
  const flag = name.length === 1 ? `-${name}` : `--${name}`;
  if (values.length > 1) throw usage(`${flag} was given ${values.length} times, it can be given once`);
  const [value] = values;
  if (spec.type === "boolean") return value === undefined ? undefined : value === "yes";
  if (value === undefined) return spec.default;
  if (spec.type === "string") {
    if (spec.choices !== undefined && !spec.choices.includes(value)) {
      throw usage(
        `${flag} must be one of ${spec.choices.join(", ")}, got "${value}"${didYouMean(value, spec.choices)}`,
      );
    }
    return value;
  }
  return numberValue(flag, spec, value);
}

function numberValue(
  flag: string,
  spec: Extract<FlagSpec, { type: "integer" | "number" }>,
  value: string,
): number {
  const form = spec.type === "integer" ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const number = Number(value);
  const { min, max } = spec;
  const fits =
    form.test(value) &&
    Number.isFinite(number) &&
    number >= (min ?? -Infinity) &&
    number <= (max ?? Infinity);
  if (fits && (spec.type === "number" || Number.isSafeInteger(number))) return number;
  const kind = spec.type === "integer" ? "an integer" : "a number";
  const range =
    min !== undefined && max !== undefined
      ? ` from ${min} to ${max}`
      : min !== undefined
        ? ` of at least ${min}`
        : max !== undefined
          ? ` of at most ${max}`
          : "";
  throw usage(`${flag} must be ${kind}${range}, got "${value}"`);
}

function requireFlag(name: string, spec: FlagSpec, value: unknown): void {
  if (value === undefined && "required" in spec && spec.required === true)
    throw usage(`--${name} is required: ${spec.summary}`);
}

function readArgs(specs: readonly ArgSpec[], words: readonly string[]): Parsed["args"] {
  const args: Parsed["args"] = {};
  let next = 0;
  for (const spec of specs) {
    if (spec.variadic === true) {
      args[spec.name] = words.slice(next);
      if (next >= words.length && spec.optional !== true)
        throw usage(`Missing argument ${spec.name}: ${spec.summary}`);
      next = words.length;
      continue;
    }
    const word = words[next];
    if (word === undefined && spec.optional !== true)
      throw usage(`Missing argument ${spec.name}: ${spec.summary}`);
    args[spec.name] = word;
    next += 1;
  }
  if (words.length > next) {
    const takes =
      specs.length === 0 ? "this command takes none" : `it takes ${specs.map(({ name }) => name).join(" ")}`;
    throw usage(`Unexpected argument "${words[next]}"; ${takes}`);
  }
  return args;
}

function usage(message: string): BatError {
  return new BatError("usage", message);
}
