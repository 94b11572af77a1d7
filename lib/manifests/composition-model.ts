import { Written } from "../edit/yaml-edit.ts";
import { show } from "../schema.ts";
import {
  API_VERSION,
  isMapping,
  type ManifestFile,
  type Mapping,
  mappingAt,
  ordered,
  wrong,
} from "./document.ts";

export const COMPOSITION_MODEL = "CompositionModel";

/** What an update of a manifest came to. */
export interface Update {
  /** The document as it is to be. */
  value: Mapping;
  added: string[];
  /** Other changes, one line each. */
  changes: string[];
  warnings: string[];
}

/** What a composition model is updated from. */
export interface ModelInput {
  /** The blueprint's Kubernetes name. */
  blueprint: string;
  /** Runnable agents: folder and Kubernetes name. */
  agents: readonly { folder: string; name: string }[];
  image: string;
  vendor: string;
  name: string | undefined;
  namespace: string | undefined;
}

const PROBE = {
  httpGet: { path: "/.well-known/agent-card.json", port: 9900 },
  periodSeconds: 5,
  timeoutSeconds: 2,
  failureThreshold: 3,
};

/** Shown under rules that are empty. */
const RULE = ["- apiGroups: ['']", "  resources: [pods]", "  verbs: [get, list]"];

/**
 * Brings a composition model up to a blueprint: a mode for every agent that none runs, the image, the vendor, probes.
 * What does not come from the blueprint stays.
 *
 * @throws BatError (code `config`) with the place of what is no composition model's
 */
export function updateCompositionModel(file: ManifestFile, input: ModelInput): Update {
  const { blueprint, agents, image, vendor } = input;
  const value = structuredClone(file.value);
  const update: Update = { value, added: [], changes: [], warnings: [] };
  const modes = readModes(file, value.deploymentModes);
  const runBy = new Map(agents.map(({ folder }) => [folder, modeOf(file, modes, folder)]));
  moveImages(modes, [...runBy.values()], image, update);
  for (const [name, mode] of Object.entries(modes)) {
    if (mode.vendor === vendor) continue;
    update.changes.push(`${name}: vendor ${told(mode.vendor)} -> ${vendor}`);
    mode.vendor = vendor;
  }
  for (const { folder, name } of agents) {
    const running = runBy.get(folder);
    if (running !== undefined && running !== null) addProbe(running, modes, update);
    else if (Object.hasOwn(modes, name))
      update.warnings.push(
        `The mode "${name}" is taken by something else: the agent "${folder}" has none; rename one of them`,
      );
    else {
      modes[name] = newMode(folder, name, image, vendor);
      update.added.push(name);
    }
  }
  if (!/^[^/]*[.:][^/]*\//.test(image) && !image.startsWith("localhost/"))
    update.warnings.push(`The image ${image} names no registry; give one with --docker-registry`);
  const metadata = { ...mappingAt(file, ["metadata"], value.metadata) };
  setName(metadata, "name", input.name, blueprint, file, update);
  setName(metadata, "namespace", input.namespace, "default", file, update);
  const spec = { provider: "bubbleran", version: "v0.1.0", ...mappingAt(file, ["spec"], value.spec) };
  update.value = ordered(["apiVersion", "kind", "metadata", "spec", "deploymentModes"], {
    ...value,
    apiVersion: API_VERSION,
    kind: COMPOSITION_MODEL,
    metadata: ordered(["name", "namespace"], metadata),
    spec: ordered(Object.keys(mappingAt(file, ["spec"], value.spec)), spec),
    deploymentModes: modes,
  });
  return update;
}

/** Sets a name in the metadata: the one given, else the one that is there, else a first one. */
export function setName(
  metadata: Mapping,
  key: "name" | "namespace",
  given: string | undefined,
  first: string,
  file: ManifestFile,
  { changes }: Update,
): void {
  const before = metadata[key];
  const after = given ?? (before === undefined || before === null ? first : before);
  if (before === after) return;
  metadata[key] = after;
  if (file.before !== null) changes.push(`metadata.${key} ${told(before)} -> ${told(after)}`);
}

export function told(value: unknown): string {
  if (value === undefined || value === null) return "None";
  return typeof value === "string" ? value : show(value);
}

/** The modes of a composition model, each a mapping; one without content counts as empty. */
export function readModes(file: ManifestFile, holder: unknown): Record<string, Mapping> {
  const modes = mappingAt(file, ["deploymentModes"], holder);
  return Object.fromEntries(
    Object.entries(modes).map(([name, mode]) => [
      name,
      { ...mappingAt(file, ["deploymentModes", name], mode) },
    ]),
  );
}

/** Name of the first mode that runs an agent; null where none does. */
export function modeOf(
  file: ManifestFile,
  modes: Readonly<Record<string, Mapping>>,
  folder: string,
): string | null {
  for (const [name, mode] of Object.entries(modes)) {
    if (mode.kind === "mcp") continue;
    if (Array.isArray(mode.args) && mode.args[0] === folder) return name;
    if (cardPath(file, name, mode.env)?.split("/")[0] === folder) return name;
  }
  return null;
}

function cardPath(file: ManifestFile, mode: string, env: unknown): string | null {
  if (env === undefined || env === null) return null;
  if (!Array.isArray(env))
    throw wrong(
      file,
      ["deploymentModes", mode, "env"],
      `Expected a list of {name, value}, found ${show(env)}`,
    );
  const entry = env.find((one) => isMapping(one) && one.name === "AGENT_CARD_PATH") as Mapping | undefined;
  return typeof entry?.value === "string" ? entry.value : null;
}

/** Every mode whose image is of the blueprint moves to the new one. */
function moveImages(
  modes: Readonly<Record<string, Mapping>>,
  own: readonly (string | null)[],
  image: string,
  { changes }: Update,
): void {
  const images = own.flatMap((name) => (name === null ? [] : [modes[name]?.imageTag]));
  const repositories = new Set(
    [image, ...images].filter((one) => typeof one === "string").map((one) => repositoryOf(one)),
  );
  for (const [name, mode] of Object.entries(modes)) {
    const { imageTag } = mode;
    if (typeof imageTag !== "string" || imageTag === image || !repositories.has(repositoryOf(imageTag)))
      continue;
    mode.imageTag = image;
    changes.push(`${name}: imageTag ${imageTag} -> ${image}`);
  }
}

/** An image without its tag and digest. */
function repositoryOf(image: string): string {
  return image.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
}

function addProbe(name: string, modes: Record<string, Mapping>, { changes }: Update): void {
  const mode = modes[name]!;
  if (mode.readinessProbe !== undefined && mode.readinessProbe !== null) return;
  mode.readinessProbe = structuredClone(PROBE);
  changes.push(`${name}: added readinessProbe`);
}

function newMode(folder: string, name: string, image: string, vendor: string): Mapping {
  return {
    kind: "agent",
    name,
    vendor,
    imageTag: image,
    args: [folder],
    env: [{ name: "AGENT_CARD_PATH", value: `${folder}/agent.json` }],
    readinessProbe: structuredClone(PROBE),
    rules: new Written([], { below: RULE }),
  };
}
