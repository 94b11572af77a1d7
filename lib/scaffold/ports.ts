import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The port in a `config.yaml`: a number, also one written as text or in the URL; null where it names none.
 *
 * @throws BatError (code `config`) for a file that is no YAML
 */
export async function portIn(text: string, file: string): Promise<number | null> {
  const plain = plainPort(text);
  if (plain !== undefined) return plain;
  const { readYaml } = await import("../text/yaml-read.ts");
  const { endpoint } = (readYaml(text, file).value ?? {}) as { endpoint?: { url?: unknown; port?: unknown } };
  if (typeof endpoint !== "object" || endpoint === null) return null;
  const inUrl =
    typeof endpoint.url === "string" ? /^[a-z]+:\/\/[^/?#]*:(\d+)/i.exec(endpoint.url)?.[1] : undefined;
  for (const port of [endpoint.port, inUrl]) {
    const digits = typeof port === "number" || typeof port === "string" ? String(port) : "";
    if (/^\d{1,5}$/.test(digits) && Number(digits) >= 1 && Number(digits) <= 65_535) return Number(digits);
  }
  return null;
}

/** The same for a file written as nearly all are, without a parser: a blueprint may have hundreds. Undefined elsewhere. */
function plainPort(text: string): number | undefined {
  const [block, ...more] = text.match(/^endpoint:[ ]*(?:#.*)?\n(?:[ ]+.*\n|[ ]*#.*\n|\n)*/gm) ?? [];
  if (block === undefined || more.length > 0 || /^(?:---|\.\.\.|%)|[&*<{["'|>]/m.test(block))
    return undefined;
  const lines = block.split("\n").filter((line) => /^ +[^ #]/.test(line));
  const values = lines.map((line) => /^ {2}(port|url): (\d{1,5}|https?:\/\/[\w.-]+)[ ]*(?:#.*)?$/.exec(line));
  if (values.includes(null)) return undefined;
  const ports = values.filter((found) => found![1] === "port");
  const port = ports.length === 1 ? Number(ports[0]![2]) : Number.NaN;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** The port that an agent's file names; null, with a warning, for a file that cannot be read. */
export async function portOf(path: string, shown: string, warnings: string[]): Promise<number | null> {
  try {
    return await portIn(await readFile(path, "utf8"), shown);
  } catch (error) {
    warnings.push(`Cannot tell the port in ${shown}: ${(error as Error).message.split("\n").at(-1)!.trim()}`);
    return null;
  }
}

/** One past the highest port in use, and where that is none, the first free one from 9900 on. */
export function nextPort(used: readonly number[]): number {
  const highest = used.reduce((most, port) => Math.max(most, port), 0);
  if (highest === 0) return 9900;
  if (highest < 65_535) return highest + 1;
  let port = 9900;
  while (used.includes(port)) port += 1;
  return port;
}

/** Ports of a blueprint's agents in TypeScript, from their settings. */
export async function nodePorts(root: string, but: string): Promise<number[]> {
  const ports: number[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === but) continue;
    const text = await readFile(join(root, entry.name, "src", "settings.ts"), "utf8").catch(() => "");
    const [, port] = /\bprocess\.env\.PORT \?\? (\d{1,5})\b/.exec(text) ?? [];
    if (port !== undefined) ports.push(Number(port));
  }
  return ports;
}
