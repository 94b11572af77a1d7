import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";

/** A place in an agent's code that sets a privacy floor. */
export interface PrivacyFloor {
  /** Relative to the agent's folder. */
  file: string;
  /** Of the value, from 1. */
  line: number;
  level: "none" | "content" | "names" | "full" | "unknown";
}

type SyntaxNode = ReturnType<typeof import("@lezer/python")["parser"]["parse"]>["topNode"];

const LEVELS = ["none", "content", "names", "full"] as const;
const KEYWORD = "telemetry_privacy_floor";

/**
 * Finds every `telemetry_privacy_floor=` of a call in the Python files below an agent's folder. Folders that begin with
 * `.` and `tests` are passed over, and so are files that do not parse.
 */
export async function findPrivacyFloors(dir: string): Promise<PrivacyFloor[]> {
  const floors: PrivacyFloor[] = [];
  for await (const file of pythonFiles(dir)) {
    const text = await readFile(file, "utf8");
    // The parser is loaded for the few files that mention the keyword at all.
    if (!text.includes(KEYWORD)) continue;
    for (const floor of await floorsOf(text)) floors.push({ file: relative(dir, file), ...floor });
  }
  return floors;
}

async function* pythonFiles(dir: string): AsyncGenerator<string> {
  const entries = await readdir(dir, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith(".") && entry.name !== "tests" && entry.name !== "__pycache__")
        yield* pythonFiles(path);
    } else if (entry.name.endsWith(".py") && (await isFile(path))) yield path;
  }
}

/** A link to a file counts too; one that leads nowhere does not. */
async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

/** The floors that a Python file sets; none where it does not parse. */
export async function floorsOf(text: string): Promise<Omit<PrivacyFloor, "file">[]> {
  const { parser } = await import("@lezer/python");
  const floors: Omit<PrivacyFloor, "file">[] = [];
  let broken = false;
  parser.parse(withPlainTargets(text)).iterate({
    enter({ node }) {
      if (node.type.isError && !isValidPython(node, text)) broken = true;
      if (node.name !== "VariableName" || !isCallArgument(node)) return;
      if (text.slice(node.from, node.to) !== KEYWORD) return;
      const assign = nextOf(node);
      let value = assign?.name === "AssignOp" ? nextOf(assign) : null;
      while (value?.name === "ParenthesizedExpression") value = nextOf(value.firstChild);
      if (value === null) return;
      const line = text.slice(0, value.from).split(/\r\n|\r|\n/).length;
      floors.push({ line, level: levelOf(value, text) });
    },
  });
  return broken ? [] : floors;
}

/** The parser knows only names behind the `as` of a `with`: `as (a, b)` and `as self.x` are made names, place for place. */
function withPlainTargets(text: string): string {
  return text.replace(
    /\bas([ \t]+|(?=\())(\([\w \t,.*]*\)|[A-Za-z_]\w*(?:\.\w+)+)(?=[ \t]*(?:[:,)]|\\\r?\n))/g,
    (_, space: string, target: string) => `as${space}${"_".repeat(target.length)}`,
  );
}

/** The keywords of a class statement are no call's. */
function isCallArgument({ parent }: SyntaxNode): boolean {
  return parent?.name === "ArgList" && parent.parent?.name !== "ClassDefinition";
}

/** The node behind, comments apart. */
function nextOf(node: SyntaxNode | null): SyntaxNode | null {
  let next = node?.nextSibling ?? null;
  while (next?.name === "Comment") next = next.nextSibling;
  return next;
}

/**
 * Whether an error of the parser is one of its own: it does not know all of Python. A file with a bare `yield`, as every
 * context manager has one, must not be passed over for that.
 */
function isValidPython({ from, to, parent, prevSibling }: SyntaxNode, text: string): boolean {
  const within = parent?.name ?? "";
  const empty = from === to;
  switch (within) {
    case "YieldStatement":
    case "YieldExpression":
      return empty && prevSibling?.name === "yield";
    case "MemberExpression": // `1.`
      return empty && prevSibling?.name === "." && parent?.firstChild?.name === "Number";
    case "LiteralPattern": // `case []:` and `case Point():`
      return empty && /[[(]\s*$/.test(text.slice(Math.max(0, from - 20), from));
    case "MappingPattern": // `case {}:`
      return text.slice(from, to) === "}" && prevSibling?.name === "{";
    case "ParamList": // `lambda a, /, b:` and `lambda a,:`
      return parent?.parent?.name === "LambdaExpression" && (empty || text.slice(from, to) === "/");
    default:
      return false;
  }
}

/** As the kit reads the value: literals that are no level mean none; what is not known before it runs is unknown. */
function levelOf(value: SyntaxNode, text: string): PrivacyFloor["level"] {
  const source = text.slice(value.from, value.to);
  const level = (name: string) => LEVELS.find((known) => known === name);
  switch (value.name) {
    case "ContinuedString":
    case "String":
      // One that holds an f-string is no literal, whatever the others are.
      if (value.getChild("FormatString") !== null) return "unknown";
      return level(stringValue(source).toLowerCase().trim()) ?? "none";
    case "Number":
    case "Boolean":
    case "None":
    case "Ellipsis":
      return "none";
    case "MemberExpression": {
      const last = /\.\s*([A-Za-z_]\w*)\s*$/.exec(source)?.[1];
      return level(last?.toLowerCase() ?? "") ?? "unknown";
    }
    default:
      return "unknown";
  }
}

const LITERAL = /([A-Za-z]*)("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')/g;

/** The text of one or several adjoining literals. Bytes are no text: they keep their prefix, as `str()` of them has it. */
function stringValue(source: string): string {
  const parts = [...source.matchAll(LITERAL)].map(([, prefix = "", quoted = ""]) => {
    const width = /^("""|''')/.test(quoted) ? 3 : 1;
    const text = quoted.slice(width, -width);
    if (/b/i.test(prefix)) return `b'${text}'`;
    return /r/i.test(prefix) ? text : unescaped(text);
  });
  return parts.join("");
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(\r?\n)|([\s\S]))/g;
const LETTERS: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", f: "\f", v: "\v" };

function unescaped(text: string): string {
  return text.replace(
    ESCAPE,
    (found, x?: string, u?: string, long?: string, octal?: string, end?: string, letter?: string) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (end !== undefined) return "";
      if (letter === "'" || letter === '"' || letter === "\\") return letter;
      return LETTERS[letter ?? ""] ?? found;
    },
  );
}
