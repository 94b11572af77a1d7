import { readFile } from "node:fs/promises";
import { readYaml } from "../text/yaml-read.ts";

/**
 * The port in a `config.yaml`: a number, also one written as text or in the URL; null where it names none.
 *
 * @throws BatError (code `config`) for a file that is no YAML
 */
export function portIn(text: string, file: string): number | null {
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

/** The port that an agent's file names; null, with a warning, for a file that cannot be read. */
export async function portOf(path: string, shown: string, warnings: string[]): Promise<number | null> {
  try {
    return portIn(await readFile(path, "utf8"), shown);
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
