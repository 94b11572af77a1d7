import { isLoopback, portOf } from "../agent/port.ts";
import { KEY_VARIABLES } from "../settings/agent-providers.ts";
import { unsetVariables } from "../text/expand.ts";
import type { AgentConfig, Linked } from "./agents.ts";
import { modeOf, readModes, setName, told, type Update } from "./composition-model.ts";
import { API_VERSION, type ManifestFile, type Mapping, mappingAt, namedListAt, ordered } from "./document.ts";
import { freeName, kubernetesName } from "./names.ts";

export const AI_FABRIC = "AIFabric";

/** What a fabric is updated from. */
export interface FabricInput {
  blueprint: string;
  agents: readonly AgentConfig[];
  /** The composition model beside it; null without one. */
  model: ManifestFile | null;
  name: string | undefined;
  namespace: string | undefined;
  imagePullSecrets: readonly string[];
  telemetryEndpoint: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** The lists of a fabric while they are brought up to a blueprint. */
interface Fabric {
  llms: Mapping[];
  mcp: Mapping[];
  agents: Mapping[];
}

/**
 * Brings a fabric up to a blueprint: for every agent with a model an entry, its language model, MCP servers and the agents
 * it calls. Roles, models set by hand, other blueprints' agents and all that is not known stay.
 *
 * @throws BatError (code `config`) with the place of what is no fabric's
 */
export function updateFabric(file: ManifestFile, input: FabricInput): Update {
  const value = structuredClone(file.value);
  const update: Update = { value, added: [], changes: [], warnings: [] };
  const spec = { ...mappingAt(file, ["spec"], value.spec) };
  const fabric: Fabric = {
    llms: namedListAt(file, ["spec", "llms"], spec.llms),
    mcp: namedListAt(file, ["spec", "mcp"], spec.mcp),
    agents: namedListAt(file, ["spec", "agents"], spec.agents),
  };
  const blocked = new Set<string>();
  for (const agent of input.agents) {
    const entry = fabric.agents.find(({ name }) => name === agent.name);
    if (agent.model === null) {
      update.warnings.push(`${agent.file}: The agent has no model.provider and model.name; it is left out`);
      blocked.add(agent.folder);
    } else if (entry !== undefined && (entry.type ?? "internal") !== "internal") {
      update.warnings.push(
        `The agent "${agent.name}" is of type ${told(entry.type)} in ${file.shown}; it is left alone`,
      );
      blocked.add(agent.folder);
    }
    if (agent.telemetry.privacy)
      update.warnings.push(`${agent.file}: telemetry.privacy hides contents from whoever reads the spans`);
  }
  const present = input.agents.filter(({ folder }) => !blocked.has(folder));
  // All names are known before any is looked up: agents may call each other.
  for (const { name } of present) {
    if (fabric.agents.some((entry) => entry.name === name)) continue;
    fabric.agents.push({ name, type: "internal", internal: {} });
    update.added.push(name);
  }
  for (const agent of present) updateAgent(file, fabric, agent, input, update);
  const secrets = pullSecrets(file, spec, input.imagePullSecrets, update);
  const telemetry = telemetryOf(file, spec, input, update);
  const metadata = { ...mappingAt(file, ["metadata"], value.metadata) };
  const home = mappingAt(file, ["metadata"], input.model?.value.metadata);
  setName(metadata, "name", input.name, kubernetesName(`${input.blueprint}-fabric`), file, update);
  const namespace = typeof home.namespace === "string" ? home.namespace : "default";
  setName(metadata, "namespace", input.namespace, namespace, file, update);
  const lists = Object.fromEntries(Object.entries(fabric).filter(([, list]) => list.length > 0));
  const { llms: _, mcp: __, agents: ___, ...others } = spec;
  update.value = ordered(["apiVersion", "kind", "metadata", "spec"], {
    ...value,
    apiVersion: API_VERSION,
    kind: AI_FABRIC,
    metadata: ordered(["name", "namespace"], metadata),
    spec: ordered(["imagePullSecrets", "telemetry", "llms", "mcp", "agents"], {
      ...others,
      ...(secrets.length === 0 ? {} : { imagePullSecrets: secrets }),
      ...(telemetry === null ? {} : { telemetry }),
      ...lists,
    }),
  });
  return update;
}

function updateAgent(
  file: ManifestFile,
  fabric: Fabric,
  agent: AgentConfig,
  input: FabricInput,
  update: Update,
): void {
  const at = fabric.agents.findIndex(({ name }) => name === agent.name);
  const entry = fabric.agents[at]!;
  const isNew = update.added.includes(agent.name);
  const internal = { ...mappingAt(file, ["spec", "agents", at, "internal"], entry.internal) };
  const change = (key: string, after: unknown) => {
    const before = internal[key];
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    if (after === undefined) delete internal[key];
    else internal[key] = after;
    if (!isNew && before !== undefined)
      update.changes.push(`${agent.name}: ${key} ${listed(before)} -> ${listed(after)}`);
    else if (!isNew && key !== "model") update.changes.push(`${agent.name}: ${key} None -> ${listed(after)}`);
  };
  if (internal.model === undefined) change("model", deploymentModel(agent, input, update));
  change("llm", languageModel(fabric, agent, input, update));
  if (isNew) change("role", "none");
  const servers = mcpServers(fabric, agent, input, update);
  change("mcpServers", servers.length === 0 ? undefined : servers);
  const called = dependencies(fabric, agent, input, update);
  change("dependencies", called.length === 0 ? undefined : called);
  fabric.agents[at] = { ...entry, internal };
}

function listed(value: unknown): string {
  return Array.isArray(value) ? value.map(told).join(", ") : told(value);
}

/** `<composition model>/<mode>` of what runs the agent. */
function deploymentModel(agent: AgentConfig, { model, blueprint }: FabricInput, update: Update): string {
  if (model === null) return `${blueprint}/${agent.name}`;
  const { name } = mappingAt(model, ["metadata"], model.value.metadata);
  const home = typeof name === "string" && name !== "" ? name : blueprint;
  const mode = modeOf(model, readModes(model, model.value.deploymentModes), agent.folder);
  if (mode === null)
    update.warnings.push(
      `No deployment mode of ${model.shown} runs the agent "${agent.folder}"; write it with \`bat manifests composition-model\``,
    );
  return `${home}/${mode ?? agent.name}`;
}

/** The name of the agent's language model in the fabric, made where there is none that fits. */
function languageModel(
  fabric: Fabric,
  { model, file }: AgentConfig,
  { env }: FabricInput,
  update: Update,
): string {
  const { provider, name, baseUrl } = model!;
  for (const [key, text] of Object.entries({ "model.provider": provider, "model.name": name })) {
    const unset = unsetVariables(text, env);
    if (unset.length > 0)
      update.warnings.push(
        `${file} ${key}: ${unset.join(", ")} is not set; "${text}" stands in the manifest as it is`,
      );
  }
  const url = baseUrl !== null && isReachable(baseUrl, env) ? baseUrl : null;
  if (baseUrl !== null && url === null)
    update.warnings.push(
      `${file} model.base_url: "${baseUrl}" cannot be used in the cluster; it is left out`,
    );
  const fits = fabric.llms.find(
    (one) =>
      one.provider === provider &&
      String(one.model) === name &&
      (url === null || (one.endpoint as Mapping | undefined)?.baseUrl === url),
  );
  if (fits !== undefined) return String(fits.name);
  const own = freeName(kubernetesName(`${provider} ${name}`) || "llm", (candidate) =>
    fabric.llms.some((one) => one.name === candidate),
  );
  const key = KEY_VARIABLES[provider.toLowerCase()];
  fabric.llms.push({
    name: own,
    provider,
    model: name,
    ...(key === undefined ? {} : { apiKeySecretRef: { name: `${provider.toLowerCase()}-api-key`, key } }),
    ...(url === null ? {} : { endpoint: { baseUrl: url } }),
  });
  update.changes.push(`new LLM ${own} (${provider} ${name})`);
  return own;
}

/** Whether a URL can mean the same from within a cluster. */
function isReachable(url: string, env: FabricInput["env"]): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") return false;
  return unsetVariables(url, env).length === 0 && !isLoopback(url);
}

function mcpServers(
  fabric: Fabric,
  { mcpServers: servers, file }: AgentConfig,
  input: FabricInput,
  update: Update,
): string[] {
  const names: string[] = [];
  for (const { name, url } of servers) {
    const own = name === null ? "" : kubernetesName(name);
    if (own === "") {
      update.warnings.push(
        `${file} mcp-servers: A server${url === null ? "" : ` (${url})`} has no name; it is left out`,
      );
      continue;
    }
    const known = fabric.mcp.find((one) => one.name === own);
    if (known === undefined) addServer(fabric, own, { name, url }, file, input, update);
    else tellOther(known, name!, url, file, update);
    if (!names.includes(own)) names.push(own);
  }
  return names;
}

function addServer(
  fabric: Fabric,
  name: string,
  { url }: Linked,
  file: string,
  { model, env }: FabricInput,
  update: Update,
): void {
  const modes = model === null ? {} : readModes(model, model.value.deploymentModes);
  if (modes[name]?.kind === "mcp") {
    const home = mappingAt(model!, ["metadata"], model!.value.metadata).name;
    fabric.mcp.push({ name, type: "internal", internal: { model: `${told(home)}/${name}` } });
  } else {
    if (url === null || !isReachable(url, env))
      update.warnings.push(
        `${file} mcp-servers: The URL of "${name}", ${url === null ? "none" : `"${url}"`}, cannot be used in the cluster; set it in the manifest`,
      );
    fabric.mcp.push({ name, type: "external", external: { baseUrl: url } });
  }
  update.changes.push(`new MCP server ${name}`);
}

/** A server that is there already keeps its URL; that another was meant is said. */
function tellOther(known: Mapping, name: string, url: string | null, file: string, update: Update): void {
  const here = (known.external as Mapping | undefined)?.baseUrl;
  if (known.type !== "external" || url === null || here === url) return;
  update.warnings.push(
    `${file} mcp-servers: "${name}" is "${told(known.name)}" in the manifest with the URL ${told(here)}; "${url}" is not taken`,
  );
}

/** Names of the fabric's agents that an agent calls. */
function dependencies(fabric: Fabric, agent: AgentConfig, input: FabricInput, update: Update): string[] {
  const names: string[] = [];
  for (const remote of agent.remoteAgents) {
    const name = calledAgent(fabric, remote, input);
    if (name === null)
      update.warnings.push(
        `${agent.file} remote-agents: ${remote.name === null ? `The agent at ${remote.url ?? "no URL"}` : `"${remote.name}"`} is none of the fabric's; add it by hand where it is needed`,
      );
    else if (name !== agent.name && !names.includes(name)) names.push(name);
  }
  return names;
}

/** By local port first, then by name in the fabric, then by the name on a card. */
function calledAgent(fabric: Fabric, { name, url }: Linked, { agents }: FabricInput): string | null {
  const port = localPort(url);
  const byPort = port === null ? undefined : agents.findLast((agent) => agent.port === port);
  if (byPort !== undefined) return byPort.name;
  if (name === null) return null;
  const own = kubernetesName(name);
  if (own !== "" && fabric.agents.some((entry) => entry.name === own)) return own;
  return agents.find((agent) => agent.cardName === name)?.name ?? null;
}

function localPort(url: string | null): number | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed === null || parsed.hostname === "" || !isLoopback(parsed.href)) return null;
  return portOf(parsed.href);
}

function pullSecrets(file: ManifestFile, spec: Mapping, given: readonly string[], update: Update): Mapping[] {
  const secrets = [...namedListAt(file, ["spec", "imagePullSecrets"], spec.imagePullSecrets)];
  for (const name of given) {
    if (secrets.some((one) => one.name === name)) continue;
    secrets.push({ name });
    if (file.before !== null) update.changes.push(`new image pull secret ${name}`);
  }
  return secrets;
}

function telemetryOf(
  file: ManifestFile,
  spec: Mapping,
  { agents, telemetryEndpoint, env }: FabricInput,
  update: Update,
): Mapping | null {
  const before = mappingAt(file, ["spec", "telemetry"], spec.telemetry);
  const collectors = agents.flatMap(({ telemetry }) => telemetry.endpoints);
  const remote = collectors.find((url) => isReachable(url, env));
  const endpoint = telemetryEndpoint ?? before.endpoint ?? remote;
  if (endpoint === undefined && collectors.length > 0)
    update.warnings.push(
      `The agents' collector ${collectors[0]} cannot be used in the cluster; name one with --telemetry-endpoint`,
    );
  const projects = [...new Set(agents.flatMap(({ telemetry }) => telemetry.projectName ?? []))];
  const projectName = before.projectName ?? projects[0];
  if (before.projectName === undefined && projects.length > 1)
    update.warnings.push(
      `The agents have several telemetry projects, ${projects.join(", ")}; the first is taken`,
    );
  if (endpoint === undefined || endpoint === null) return spec.telemetry === undefined ? null : before;
  const after = { ...before, endpoint, ...(projectName === undefined ? {} : { projectName }) };
  if (file.before !== null && JSON.stringify(after) !== JSON.stringify(before))
    update.changes.push(`telemetry ${JSON.stringify(before)} -> ${JSON.stringify(after)}`);
  return after;
}
