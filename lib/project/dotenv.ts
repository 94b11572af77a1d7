import { readFile } from "node:fs/promises";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads a `.env` file as python-dotenv does: `export`, single and double quotes (several lines too), comments,
 * `${NAME}` and `${NAME:-default}`. A line that is none is passed over, as there.
 *
 * @param env what is exported; in `${NAME}` it wins over the file, as it does in the agent's environment
 * @returns the variables in order; none where there is no such file
 */
export async function readDotenv(file: string, env: Env): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    // Some keep a virtual environment in a folder of that name.
    if (error.code === "ENOENT" || error.code === "EISDIR") return "";
    throw error;
  });
  return parseDotenv(text, env);
}

const TO_TEXT = /\s*(?:export[^\S\r\n]+)?/y;
const QUOTED_KEY = /'([^']+)'/y;
const KEY = /([^=#\s]+)/y;
const SPACE = /[^\S\r\n]*/y;
const EQUALS = /=[^\S\r\n]*/y;
const SINGLE = /'((?:\\'|[^'])*)'/y;
const DOUBLE = /"((?:\\"|[^"])*)"/y;
const PLAIN = /([^\r\n]*)/y;
const END = /(?:[^\S\r\n]*#[^\r\n]*)?[^\S\r\n]*(?:\r\n|\n|\r|$)/y;
const REST = /[^\r\n]*(?:\r\n|\n|\r|$)/y;

/** The variables of a `.env` file's text. */
export function parseDotenv(text: string, env: Env): Record<string, string> {
  const source = text.replace(/^\ufeff/, "");
  const found: Record<string, string> = {};
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) at += match[0].length;
    return match;
  };
  while (at < source.length) {
    take(TO_TEXT);
    const key = source[at] === "#" ? null : (take(source[at] === "'" ? QUOTED_KEY : KEY)?.[1] ?? "");
    take(SPACE);
    const assigned = key !== null && key !== "" && take(EQUALS) !== null;
    const value = assigned ? takeValue(source[at], take) : null;
    // What stands behind a closing quote makes the whole line none, and so does a quote that is never closed.
    if (key === "" || (assigned && value === null) || take(END) === null) take(REST);
    else if (value !== null && key) found[key] = interpolated(value, { ...found, ...env });
    // A name alone takes back what was said before.
    else if (key) delete found[key];
  }
  return found;
}

/** Null where a quote is never closed. */
function takeValue(
  first: string | undefined,
  take: (pattern: RegExp) => RegExpExecArray | null,
): string | null {
  if (first === "'") return take(SINGLE)?.[1]?.replace(/\\([\\'])/g, "$1") ?? null;
  if (first === '"')
    return take(DOUBLE)?.[1]?.replace(ESCAPE, (_, letter: string) => LETTERS[letter] ?? letter) ?? null;
  return (take(PLAIN)?.[1] ?? "").replace(/\s+#.*/, "").trimEnd();
}

const ESCAPE = /\\([\\'"abfnrtv])/g;
const LETTERS: Record<string, string> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Single quotes do not keep `${NAME}` from being read: they do not for python-dotenv. */
function interpolated(text: string, env: Env): string {
  return text.replace(
    /\$\{([^}:]*)(?::-([^}]*))?\}/g,
    (_, name: string, fallback: string | undefined) => env[name] ?? fallback ?? "",
  );
}
