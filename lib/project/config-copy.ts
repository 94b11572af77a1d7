import { isMap, parseDocument } from "yaml";
import { BatError } from "../errors.ts";

/**
 * The text of a `config.yaml` whose telemetry goes to a span file and nowhere else, and which is the same otherwise. The
 * user's own file stays as it is: the copy is given to the agent through `CONFIG_PATH`.
 *
 * @param spansFile absolute; the kit expands `$` in the whole file, so a path with one cannot be said
 * @throws BatError (code `config`)
 */
export function configWithTelemetry(text: string, file: string, spansFile: string): string {
  if (spansFile.includes("$")) {
    throw new BatError(
      "config",
      `Spans cannot go to "${spansFile}": the agent kit would read the "$" in it as a variable`,
    );
  }
  const document = parseDocument(text.replace(/^\ufeff/, ""), {
    prettyErrors: false,
    version: "1.1",
    keepSourceTokens: true,
  });
  if (document.errors.length > 0)
    throw new BatError("config", `Cannot read ${file} as YAML: ${document.errors[0]?.message ?? ""}`);
  const telemetry = `telemetry: {output: [{type: local, file_path: ${JSON.stringify(spansFile)}}]}`;
  if (document.contents === null)
    return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${telemetry}\n`;
  const { contents } = document;
  if (!isMap(contents)) throw new BatError("config", `${file}: Expected a mapping, found something else`);
  const pair = contents.items.find(({ key }) => (key as { value?: unknown } | null)?.value === "telemetry");
  if (contents.flow === true) {
    document.set("telemetry", document.createNode({ output: [{ type: "local", file_path: spansFile }] }));
    return document.toString({ lineWidth: 0 });
  }
  if (pair === undefined) {
    const body = text.replace(/(\r?\n)\.\.\.\s*$/, "$1");
    return `${body}${body.endsWith("\n") ? "" : "\n"}${telemetry}\n`;
  }
  const start = (pair.key as { range: [number, number, number] }).range[0];
  const value = pair.value as { range?: [number, number, number] } | null;
  const end = value?.range?.[1] ?? (pair.key as { range: [number, number, number] }).range[1] + 1;
  const source = text.replace(/^\ufeff/, "");
  const rest = source.slice(end);
  return `${source.slice(0, start)}${telemetry}${rest.startsWith("\n") || rest.startsWith("\r") || rest === "" ? "" : "\n"}${rest.replace(/^[ \t]*#[^\n]*/, "")}`;
}
