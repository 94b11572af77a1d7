import { BatError } from "../errors.ts";
import { expandEnv, unsetVariables } from "../text/expand.ts";
import { readYaml } from "../text/yaml-read.ts";

const DEFAULT_URL = "http://localhost";
const DEFAULT_PORT = 9900;

/**
 * Where an agent made with the kit will answer, from its `config.yaml`.
 *
 * @param file the configuration's name, for messages
 * @param env what `$VAR` in it stands for
 * @returns a URL with its port (unless that is the scheme's own), without a slash at the end
 * @throws BatError (code `config`) for a file that is no YAML, and for a URL or port that is none
 */
export function agentUrl(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const yaml = readYaml(expandEnv(text, env), file);
  const fail = (key: string | null, message: string): never => {
    const path = key === null ? ["endpoint"] : ["endpoint", key];
    throw new BatError("config", `${file} ${path.join(".")} (${yaml.place(path)}): ${message}`);
  };
  const endpoint = (yaml.value as { endpoint?: unknown } | null)?.endpoint ?? {};
  if (typeof endpoint !== "object" || Array.isArray(endpoint)) {
    return fail(null, `Expected a mapping with "url" and "port", found ${JSON.stringify(endpoint)}`);
  }
  const { url: stated, port: statedPort } = endpoint as { url?: unknown; port?: unknown };
  const url = readUrl(stated ?? DEFAULT_URL);
  if (url === null) return fail("url", `Expected an http or https URL, ${found(stated, env)}`);
  const port = statedPort == null ? null : portOf(statedPort);
  if (statedPort != null && port === null) {
    return fail("port", `Expected a port from 1 to 65535, ${found(statedPort, env)}`);
  }
  if (url.ownPort !== null && port !== null && url.ownPort !== port) {
    return fail(
      "port",
      `The URL "${stated}" says port ${url.ownPort}, endpoint.port says ${port}; leave one of them out`,
    );
  }
  url.parsed.port = String(url.ownPort ?? port ?? DEFAULT_PORT);
  const { protocol, host, pathname } = url.parsed;
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

/** The port that a URL names itself is read from its text: a parsed one does not show the scheme's own. */
function readUrl(stated: unknown): { parsed: URL; ownPort: number | null } | null {
  if (typeof stated !== "string" || stated.trim() === "") return null;
  const text = stated.trim();
  const parsed = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") return null;
  const [authority = ""] = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").split(/[/?#]/);
  const own = /:(\d+)$/.exec(authority)?.[1];
  const ownPort = own === undefined ? null : portOf(own);
  return own !== undefined && ownPort === null ? null : { parsed, ownPort };
}

function portOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,5}$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 1 && number <= 65_535
    ? number
    : null;
}

function found(value: unknown, env: Readonly<Record<string, string | undefined>>): string {
  const unset = typeof value === "string" ? unsetVariables(value, env) : [];
  const why = unset.length === 0 ? "" : ` (${unset.join(", ")} is not set)`;
  return `found ${JSON.stringify(value)}${why}`;
}
