import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { portOf } from "../agent/port.ts";
import { problemsError } from "../errors.ts";
import { agentUrl } from "../project/agent-url.ts";
import { check } from "../schema.ts";
import { expandEnv } from "../text/expand.ts";
import { readYaml } from "../text/yaml-read.ts";

const anything = v.optional(v.unknown());
const linked = v.optional(v.nullable(v.array(v.looseObject({ name: anything, url: anything }))));

const Config = v.looseObject({
  model: v.optional(v.nullable(v.looseObject({ provider: anything, name: anything, base_url: anything }))),
  "remote-agents": linked,
  "mcp-servers": linked,
  telemetry: v.optional(
    v.nullable(
      v.looseObject({
        project_name: anything,
        privacy: anything,
        output: v.optional(v.nullable(v.array(v.looseObject({ type: anything, endpoint: anything })))),
      }),
    ),
  ),
});

/** Another agent or an MCP server that an agent's configuration names. */
export interface Linked {
  name: string | null;
  url: string | null;
}

/** What an agent's configuration says of what a fabric needs. Variables are put in, those not set stand as they are. */
export interface AgentConfig {
  folder: string;
  /** The Kubernetes name. */
  name: string;
  /** `config.yaml` for messages. */
  file: string;
  port: number | null;
  /** Of its card, null without one. */
  cardName: string | null;
  /** Null where it has none. */
  model: { provider: string; name: string; baseUrl: string | null } | null;
  remoteAgents: Linked[];
  mcpServers: Linked[];
  telemetry: { projectName: string | null; endpoints: string[]; privacy: boolean };
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads an agent's `config.yaml` and the name on its card.
 *
 * @throws BatError (code `config`) with file and place for what is no YAML or of another shape
 */
export async function readAgent(root: string, folder: string, name: string, env: Env): Promise<AgentConfig> {
  const file = `${folder}/config.yaml`;
  const text = await readFile(join(root, folder, "config.yaml"), "utf8");
  const expanded = expandEnv(text, env);
  const yaml = readYaml(expanded, file);
  const checked = check(Config, yaml.value ?? {});
  if (!checked.ok) {
    const problems = checked.problems.map((problem, i) => ({
      file,
      place: `${problem.place} (${yaml.place(checked.paths[i] ?? [])})`,
      message: problem.message,
    }));
    throw problemsError("config", `${file} cannot be used:`, problems);
  }
  const { model, telemetry } = checked.output;
  const modelText = async (value: unknown, key: string) => await scalarText(value, expanded, ["model", key]);
  const provider = await modelText(model?.provider, "provider");
  const modelName = await modelText(model?.name, "name");
  return {
    folder,
    name,
    file,
    port: portIn(text, file, env),
    cardName: await cardName(join(root, folder, "agent.json")),
    model:
      provider === null || modelName === null
        ? null
        : { provider, name: modelName, baseUrl: textOf(model?.base_url) },
    remoteAgents: (checked.output["remote-agents"] ?? []).map(linkedOf),
    mcpServers: (checked.output["mcp-servers"] ?? []).map(linkedOf),
    telemetry: {
      projectName: textOf(telemetry?.project_name),
      privacy: telemetry?.privacy != null,
      endpoints: (telemetry?.output ?? [])
        .filter(({ type }) => type === "remote")
        .flatMap(({ endpoint }) => textOf(endpoint) ?? []),
    },
  };
}

function linkedOf({ name, url }: { name?: unknown; url?: unknown }): Linked {
  return { name: textOf(name), url: textOf(url) };
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === "" || typeof value === "object") return null;
  return String(value);
}

/** A scalar as it is written: a model called 1.0 is not called 1. */
async function scalarText(value: unknown, text: string, path: string[]): Promise<string | null> {
  if (typeof value !== "number" && typeof value !== "boolean") return textOf(value);
  const { isScalar, parseDocument } = await import("yaml");
  const node = parseDocument(text).getIn(path, true);
  return isScalar(node) && typeof node.source === "string" ? node.source : String(value);
}

/** The port it listens on; null where that cannot be told, which is the agent's own matter here. */
function portIn(text: string, file: string, env: Env): number | null {
  try {
    return portOf(agentUrl(text, file, env));
  } catch {
    return null;
  }
}

async function cardName(file: string): Promise<string | null> {
  try {
    const { name } = JSON.parse(await readFile(file, "utf8")) as { name?: unknown };
    return typeof name === "string" ? name : null;
  } catch {
    return null;
  }
}
