import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { BatError, type Problem, problemsError } from "../errors.ts";
import type { Path } from "../schema.ts";

/** A YAML file that was read: its value, and where in the text each place of it is. */
export interface YamlFile {
  value: unknown;
  /** `line 4, column 3` of a place, or of the nearest place above it that the text has. */
  place(path: Path): string;
}

/**
 * Reads YAML. Everything that makes it no YAML is told at once with line and column (BatError, code `config`).
 *
 * @param file its name, for messages
 */
export function readYaml(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  if (document.errors.length > 0) {
    const problems: Problem[] = document.errors.map((error) => ({
      file,
      place: at(error.pos[0]),
      message: error.message,
    }));
    throw problemsError("config", `Cannot read ${file} as YAML:`, problems);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new BatError("config", `Cannot read ${file} as YAML: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return { value, place: (path) => at(offsetOf(document, path)) };
}

function offsetOf(document: Document.Parsed, path: Path): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
