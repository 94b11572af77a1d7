import { relative } from "node:path";
import { finishPending } from "../edit/pending.ts";
import { readText } from "../edit/read.ts";
import { type WriteOptions, writeChanges } from "../edit/write.ts";
import { Written, type YamlPath, YamlText } from "../edit/yaml-edit.ts";
import { BatError, problemsError } from "../errors.ts";
import { resolveAgentProject } from "../project/resolve.ts";
import { didYouMean } from "../text/nearest.ts";
import { AGENT_PROVIDERS } from "./agent-providers.ts";

/** What of an agent's configuration can be set; what is left out stays. */
export interface ConfigSettings {
  port?: number | undefined;
  model?: string | undefined;
  modelProvider?: string | undefined;
  reasoningEffort?: string | undefined;
  serviceTier?: string | undefined;
}

const PLACES: readonly { setting: keyof ConfigSettings; path: readonly string[]; flag: string }[] = [
  { setting: "port", path: ["endpoint", "port"], flag: "--port" },
  { setting: "modelProvider", path: ["model", "provider"], flag: "--model-provider" },
  { setting: "model", path: ["model", "name"], flag: "--model" },
  { setting: "reasoningEffort", path: ["model", "reasoning_effort"], flag: "--reasoning-effort" },
  { setting: "serviceTier", path: ["model", "service_tier"], flag: "--service-tier" },
];

/** What was edited. */
export interface SettingsResult {
  /** As it is called from where the command runs. */
  file: string;
  /** Dotted keys, or variables, that were set. */
  keys: string[];
  changed: boolean;
  /** Whether an earlier writing that was killed was finished before. */
  finished: boolean;
}

/**
 * Sets keys in an agent's `config.yaml`, in its text: all else stays as it is written.
 *
 * @throws BatError (code `usage`) for settings that no agent can have, and when none is given; (code `config`) for a
 *   file that cannot be edited; nothing is written then
 */
export async function setConfig(
  place: { cwd: string; agent: string | undefined },
  settings: ConfigSettings,
  options: Pick<WriteOptions, "dryRun" | "stdout">,
): Promise<SettingsResult> {
  checkSettings(settings);
  const project = await resolveAgentProject(place);
  const file = relative(place.cwd, project.configPath) || project.configPath;
  const finished = options.dryRun === true ? false : await finishPending(project.root);
  const before = await readText(project.configPath, file);
  const { text, keys } = editConfig(before, file, settings);
  const changes = [{ path: project.configPath, before, after: text }];
  const written = await writeChanges(changes, { ...options, root: project.root, cwd: place.cwd });
  return { file, keys, changed: written.length > 0, finished };
}

/**
 * The text of a `config.yaml` with settings set, and the keys that were.
 *
 * @param file its name, for messages
 * @throws BatError (code `config`) with the place, when the text cannot be edited
 */
export function editConfig(
  text: string,
  file: string,
  settings: ConfigSettings,
): { text: string; keys: string[] } {
  const yaml = new YamlText(text, { file });
  const keys: string[] = [];
  for (const { setting, path } of PLACES) {
    const value = settings[setting];
    if (value === undefined) continue;
    if (setting === "port") keys.push(...setPort(yaml, file, value as number));
    else {
      setScalar(yaml, path, value as string);
      keys.push(path.join("."));
    }
  }
  return { text: yaml.toString(), keys };
}

/** Only Python reads this file: to it, `y` and `n` are letters. */
function setScalar(yaml: YamlText, path: YamlPath, value: string): void {
  yaml.set(path, /^[yn]$/i.test(value) ? new Written(value, { text: value }) : value);
}

/** Where the URL names a port, that is the one to set: the kit refuses two that differ. */
function setPort(yaml: YamlText, file: string, port: number): string[] {
  const url = yaml.get(["endpoint", "url"]);
  const inUrl =
    typeof url === "string"
      ? /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*?:)(\d+|\$[^/?#]*)(?=[/?#]|$)/i.exec(url)
      : null;
  if (inUrl === null) {
    yaml.set(["endpoint", "port"], port);
    return ["endpoint.port"];
  }
  const [whole, head, old] = inUrl as unknown as [string, string, string];
  if (!/^\d+$/.test(old)) {
    throw problemsError("config", `Cannot set the port in ${file}, nothing was written:`, [
      {
        file,
        place: yaml.place(["endpoint", "url"]),
        message: `The URL "${url}" takes its port from a variable; set that, or leave the port out of the URL`,
      },
    ]);
  }
  yaml.set(["endpoint", "url"], `${head}${port}${(url as string).slice(whole.length)}`);
  if (!yaml.has(["endpoint", "port"])) return ["endpoint.url"];
  yaml.set(["endpoint", "port"], port);
  return ["endpoint.url", "endpoint.port"];
}

/** Checks settings before any file is touched. Throws BatError (code `usage`). */
export function checkSettings(settings: ConfigSettings): void {
  const given = PLACES.filter(({ setting }) => settings[setting] !== undefined);
  if (given.length === 0) {
    const flags = PLACES.map(({ flag }) => flag).join(", ");
    throw new BatError("usage", `Nothing to set: give at least one of ${flags}`);
  }
  for (const { setting, flag } of given) {
    const value = settings[setting];
    if (setting === "port") checkPort(value as number);
    else if (String(value).trim() === "") throw new BatError("usage", `${flag} must not be empty`);
  }
  const provider = settings.modelProvider;
  if (provider !== undefined && !(AGENT_PROVIDERS as readonly string[]).includes(provider)) {
    const hint = didYouMean(provider, AGENT_PROVIDERS);
    throw new BatError(
      "usage",
      `--model-provider must be one of ${AGENT_PROVIDERS.join(", ")}, got "${provider}"${hint}`,
    );
  }
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw new BatError("usage", `--port must be an integer from 1 to 65535, got "${port}"`);
}
