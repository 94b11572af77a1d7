import { BatError } from "../errors.ts";
import { AGENT_PROVIDERS, KEY_VARIABLES } from "../settings/agent-providers.ts";
import { didYouMean } from "../text/nearest.ts";
import { type ClientName, clientNames } from "./names.ts";
import type { Values } from "./render.ts";

/** What a new agent can be told on the command line; what is left out has a default. */
export interface AgentOptions {
  clients: string | undefined;
  template: string | undefined;
  port: number | undefined;
  model: string | undefined;
  modelProvider: string | undefined;
  privacy: string | undefined;
  reasoningEffort: string | undefined;
  serviceTier: string | undefined;
}

/** The same, checked. */
export interface AgentSettings {
  clients: ClientName[];
  template: string | undefined;
  provider: string;
  model: string;
  privacy: string;
  reasoningEffort: string | undefined;
  serviceTier: string | undefined;
  warnings: string[];
}

const PRIVACY = ["none", "content", "names", "full"] as const;
/** Checks what was asked for before anything is written. Throws BatError (code `usage`). */
export function checkAgentOptions(options: AgentOptions): AgentSettings {
  const { clients, skipped } = clientNames(options.clients ?? "example", "--clients");
  for (const [flag, value] of [
    ["--reasoning-effort", options.reasoningEffort],
    ["--service-tier", options.serviceTier],
  ] as const)
    if (value?.trim() === "") throw new BatError("usage", `${flag} must not be empty`);
  return {
    clients,
    template: options.template,
    provider: checkProvider(options.modelProvider ?? "openai"),
    model: options.model ?? TEMPLATE.model,
    privacy: checkPrivacy(options.privacy ?? "none"),
    reasoningEffort: options.reasoningEffort,
    serviceTier: options.serviceTier,
    warnings: skipped.map((item) => `"${item}" names no client and is passed over`),
  };
}

/** The kit knows its providers in lower case only. */
export function checkProvider(given: string): string {
  const provider = given.trim().toLowerCase();
  if ((AGENT_PROVIDERS as readonly string[]).includes(provider)) return provider;
  throw new BatError(
    "usage",
    `--model-provider must be one of ${AGENT_PROVIDERS.join(", ")}, got "${given}"${didYouMean(provider, AGENT_PROVIDERS)}`,
  );
}

function checkPrivacy(given: string): string {
  const level = given.trim().toLowerCase();
  if ((PRIVACY as readonly string[]).includes(level)) return level;
  throw new BatError(
    "usage",
    `--privacy must be one of ${PRIVACY.join(", ")}, got "${given}"${didYouMean(level, PRIVACY)}`,
  );
}

/** The kit, with what the provider needs. The floor is a release before the final one, so that resolvers take those. */
export function requirement(provider: string): string {
  return `bat-adk[${provider},telemetry]>=2026.10.9a0`;
}

/** The line of `.env` for a provider's key. */
export function keyLine(provider: string): string {
  const key = KEY_VARIABLES[provider];
  return key === undefined ? `# ${provider} needs no key.` : `${key}=`;
}

/** Values of the templates that every agent shares. */
export function agentValues(
  name: { folder: string; classStem: string; description: string; project: string },
  { clients, privacy }: AgentSettings,
): Values {
  const patches = clients.map(({ className }) => `patch.object(graph, "${className}")`);
  return {
    texts: {
      NAME: name.folder,
      AGENT: name.folder,
      CLASS: name.classStem,
      PROJECT: name.project,
      DESCRIPTION: name.description,
      CARD_DESCRIPTION: `${name.description}: answers messages in plain text`,
      PRIVACY: privacy,
      FIRST_CLIENT: clients[0]!.stem,
    },
    code: {
      CLIENT_IMPORTS: clients.map(({ stem, className }) => `from .llm_clients.${stem} import ${className}`),
      CLIENT_ATTRIBUTES: clients.map(({ stem, className }) => `self.${stem} = ${className}(tools=[])`),
      CLIENT_PATCHES: [patches.join(", ")],
    },
  };
}

/** What the templates of `config.yaml` say. */
const TEMPLATE = { port: 9900, model: "gpt-6-luna", provider: "openai" } as const;

/** A new `config.yaml` with what was asked for, set as `bat set config` sets it. */
export async function configOf(template: string, port: number, settings: AgentSettings): Promise<string> {
  const { model, provider, reasoningEffort, serviceTier } = settings;
  const others = [reasoningEffort, serviceTier].filter((one) => one !== undefined);
  const asTemplate = port === TEMPLATE.port && model === TEMPLATE.model && provider === TEMPLATE.provider;
  // Most agents begin as the template has them: no parser is loaded to set what stands there.
  if (asTemplate && others.length === 0) return template;
  const { editConfig } = await import("../settings/config.ts");
  return editConfig(template, "config.yaml", {
    port,
    model,
    modelProvider: provider,
    reasoningEffort,
    serviceTier,
  }).text;
}
