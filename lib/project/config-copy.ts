import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, type Node, parseDocument, stringify, type YAMLMap } from "yaml";
import { BatError, messageOf } from "../errors.ts";

/**
 * The text of a `config.yaml` whose telemetry goes to a span file and nowhere else, and which says the same otherwise.
 * The user's own file stays as it is: the copy is given to the agent through `CONFIG_PATH`.
 *
 * @param file its name, for messages
 * @param spansFile absolute; the kit expands `$` in the whole file, so a path with one cannot be said
 * @throws BatError (code `config`) for a file that is no YAML or no mapping, and for such a path
 */
export function configWithTelemetry(text: string, file: string, spansFile: string): string {
  if (spansFile.includes("$")) {
    throw new BatError(
      "config",
      `Spans cannot go to "${spansFile}": the agent kit would read the "$" in it as a variable`,
    );
  }
  const source = text.replace(/^\ufeff/, "");
  const document = parsed(source);
  const value = readMapping(document, file);
  const meant = { ...value, telemetry: { output: [{ type: "local", file_path: spansFile }] } };
  const edited = withTelemetry(source, document, spansFile);
  if (edited !== null && says(edited, meant)) return edited;
  // An anchor inside the old telemetry that is used elsewhere, or a layout of its own kind: written anew.
  const written = unmasked(stringify(meant, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 }));
  if (says(written, meant)) return written;
  throw new BatError(
    "config",
    `Cannot send the spans of ${file} elsewhere: write its "telemetry" as a plain block`,
  );
}

function readMapping(document: Document.Parsed, file: string): object {
  const unreadable = (why: string) => new BatError("config", `Cannot read ${file} as YAML: ${why}`);
  const [first] = document.errors;
  if (first !== undefined) throw unreadable(first.message);
  let value: unknown;
  try {
    value = contentOf(document) ?? {};
  } catch (error) {
    throw unreadable(messageOf(error));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new BatError("config", `${file}: Expected a mapping, found ${unmasked(JSON.stringify(value))}`);
}

/** The lines of `telemetry` replaced, or one added; null where the text cannot be edited so. */
function withTelemetry(source: string, { contents }: Document.Parsed, spansFile: string): string | null {
  const line = `telemetry: {output: [{type: local, file_path: ${JSON.stringify(spansFile)}}]}`;
  if (contents !== null && (!isMap(contents) || contents.flow === true)) return null;
  const pair = contents?.items.find(({ key }) => isScalar(key) && key.value === "telemetry");
  if (pair === undefined) return withLineInFront(source, contents, line);
  const key = pair.key as unknown as Node;
  const [start, keyEnd] = key.range ?? [0, 0];
  const end = (pair.value as Node | null)?.range?.[1] ?? keyEnd;
  // A comment behind the value on its own line belonged to what is gone; what follows begins on a line of its own.
  const rest = source.slice(Math.max(end, keyEnd)).replace(/^[ \t]*:?[ \t]*(?:#[^\r\n]*)?/, "");
  return `${source.slice(0, start)}${line}${rest === "" || /^[\r\n]/.test(rest) ? "" : "\n"}${rest}`;
}

/** In front, for at the end the text may be in the middle of a scalar, or of a line. */
function withLineInFront(source: string, contents: YAMLMap.Parsed | null, line: string): string | null {
  const first = contents?.items[0];
  if (first === undefined) return `${source.replace(/([^\n])$/, "$1\n")}${line}\n`;
  const [at] = (first.key as unknown as Node).range ?? [0];
  const indent = source.slice(source.lastIndexOf("\n", at - 1) + 1, at);
  return indent.trim() === "" ? `${source.slice(0, at)}${line}\n${indent}${source.slice(at)}` : null;
}

function says(text: string, meant: unknown): boolean {
  const document = parsed(text);
  try {
    return document.errors.length === 0 && isDeepStrictEqual(contentOf(document), meant);
  } catch {
    return false;
  }
}

/** Throws for an alias of nothing and for a bomb of aliases. */
function contentOf(document: Document.Parsed): unknown {
  return document.toJS({ maxAliasCount: 1_000 });
}

/**
 * Parsed as the kit's parser would, YAML 1.1, with the braces of `${NAME}` covered: the kit puts values there before it
 * parses, and in a flow collection they would be read as its own.
 */
function parsed(text: string): Document.Parsed {
  const covered = text.replace(/\$\{([^{}\r\n]*)\}/g, `$${OPEN}$1${CLOSE}`);
  return parseDocument(covered, {
    prettyErrors: false,
    version: "1.1",
    uniqueKeys: false,
    logLevel: "error",
  });
}

/** Of the private use area, one code unit each, so that places in the text stay the same. */
const OPEN = "\ue0f0";
const CLOSE = "\ue0f1";

function unmasked(text: string): string {
  return text.replaceAll(OPEN, "{").replaceAll(CLOSE, "}");
}
