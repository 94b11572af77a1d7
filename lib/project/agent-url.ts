import { BatError } from "../errors.ts";
import { expandEnv } from "../text/expand.ts";
import { readYaml } from "../text/yaml-read.ts";

const DEFAULT_URL = "http://localhost";
const DEFAULT_PORT = 9900;

/**
 * Where an agent made with the kit will answer, from its `config.yaml`.
 *
 * @param file the configuration's name, for messages
 * @param env what `$VAR` in it stands for
 * @throws BatError (code `config`) for a file that is no YAML, and for a URL or port that is none
 */
export function agentUrl(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const yaml = readYaml(expandEnv(text, env), file);
  const endpoint = (yaml.value as { endpoint?: { url?: unknown; port?: unknown } } | null)?.endpoint ?? {};
  const fail = (key: "url" | "port", message: string): never => {
    throw new BatError("config", `${file} endpoint.${key} (${yaml.place(["endpoint", key])}): ${message}`);
  };
  const stated = endpoint.url ?? DEFAULT_URL;
  if (typeof stated !== "string") return fail("url", `Expected a URL, found ${JSON.stringify(stated)}`);
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(stated) ? stated : `http://${stated}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    return fail("url", `Expected a URL, found ${JSON.stringify(stated)}`);
  }
  const port =
    portOf(endpoint.port) ??
    (endpoint.port == null
      ? null
      : fail("port", `Expected a port from 1 to 65535, found ${JSON.stringify(endpoint.port)}`));
  if (url.port !== "" && port !== null && Number(url.port) !== port) {
    return fail(
      "port",
      `The URL "${stated}" says port ${url.port}, endpoint.port says ${port}; leave one of them out`,
    );
  }
  if (url.port === "") url.port = String(port ?? DEFAULT_PORT);
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
}

function portOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 1 && number <= 65_535
    ? number
    : null;
}
