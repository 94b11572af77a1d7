import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** A place in an agent's code that sets a privacy floor. */
export interface PrivacyFloor {
  /** Relative to the agent's folder. */
  file: string;
  /** Of the value, from 1. */
  line: number;
  level: "none" | "content" | "names" | "full" | "unknown";
}

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
    } else if (entry.isFile() && entry.name.endsWith(".py")) yield path;
  }
}

async function floorsOf(text: string): Promise<Omit<PrivacyFloor, "file">[]> {
  const { parser } = await import("@lezer/python");
  const tree = parser.parse(text);
  const floors: Omit<PrivacyFloor, "file">[] = [];
  let broken = false;
  tree.iterate({
    enter(node) {
      if (node.type.isError) broken = true;
      const list = node.node.parent;
      if (node.name !== "VariableName" || list?.name !== "ArgList") return;
      // A class statement's keywords are no call's.
      if (list.parent?.name === "ClassDefinition") return;
      if (text.slice(node.from, node.to) !== KEYWORD) return;
      const assign = node.node.nextSibling;
      let value = assign?.name === "AssignOp" ? assign.nextSibling : null;
      while (value?.name === "ParenthesizedExpression" && value.firstChild?.nextSibling)
        value = value.firstChild.nextSibling;
      if (value === null || value === undefined) return;
      const line = text.slice(0, value.from).split("\n").length;
      floors.push({ line, level: levelOf(value.name, text.slice(value.from, value.to)) });
    },
  });
  return broken ? [] : floors;
}

/** As the kit reads the value: literals that are no level mean none; what is not known before it runs is unknown. */
function levelOf(kind: string, source: string): PrivacyFloor["level"] {
  const level = (name: string) => LEVELS.find((known) => known === name);
  switch (kind) {
    case "String":
    case "ContinuedString":
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
