import { basename, join, relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { finishPending } from "../edit/pending.ts";
import { writeChanges } from "../edit/write.ts";
import { BatError } from "../errors.ts";
import { plannedImage } from "../image/planned.ts";
import type { ImageFlags } from "../image/reference.ts";
import { canDispatch } from "../project/dispatcher.ts";
import { blueprintAgents, findBlueprintRoot } from "../project/resolve.ts";
import { printable } from "../text/printable.ts";
import { readAgent } from "./agents.ts";
import { AI_FABRIC, updateFabric } from "./aifabric.ts";
import { COMPOSITION_MODEL, type Update, updateCompositionModel } from "./composition-model.ts";
import { type ManifestFile, readManifest } from "./document.ts";
import { agentNames, blueprintName, checkLabel } from "./names.ts";

/** What both manifests take. */
interface ManifestInput {
  output: string | undefined;
  name: string | undefined;
  namespace: string | undefined;
  dryRun: boolean;
}

export interface CompositionModelInput extends ManifestInput {
  vendor: string;
  image: ImageFlags;
}

export interface FabricRunInput extends ManifestInput {
  imagePullSecrets: readonly string[];
  telemetryEndpoint: string | undefined;
}

const MODEL_FILE = "composition-model.yaml";
const FABRIC_FILE = "aifabric.yaml";

/** Writes or updates `composition-model.yaml`. Throws BatError for what cannot be one; nothing is written then. */
export async function writeCompositionModel(input: CompositionModelInput, world: World): Promise<void> {
  checkNames(input);
  if (input.vendor.trim() === "") throw new BatError("usage", "--vendor must not be empty");
  const root = await blueprintRoot(world.cwd);
  const { agents, skipped } = await runnableAgents(root);
  const image = await imageOf(root, input.image, world);
  const path = resolve(world.cwd, input.output ?? join(root, MODEL_FILE));
  if (!input.dryRun) await finishPending(root);
  const file = await readManifest(path, COMPOSITION_MODEL, world.cwd);
  const update = updateCompositionModel(file, {
    blueprint: input.name ?? blueprintName(basename(root)),
    agents,
    image,
    vendor: input.vendor,
    name: input.name,
    namespace: input.namespace,
  });
  update.warnings.unshift(...skipped);
  await finish(file, update, root, input.dryRun, world);
}

/** Writes or updates `aifabric.yaml`. Throws BatError for what cannot be one; nothing is written then. */
export async function writeFabric(input: FabricRunInput, world: World): Promise<void> {
  checkNames(input);
  for (const secret of input.imagePullSecrets) checkLabel(secret, "--image-pull-secret");
  const endpoint = input.telemetryEndpoint;
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new BatError("usage", `--telemetry-endpoint must be a URL with http or https, got "${endpoint}"`);
  const root = await blueprintRoot(world.cwd);
  const { agents, skipped } = await runnableAgents(root);
  const configs = await Promise.all(
    agents.map(({ folder, name }) => readAgent(root, folder, name, world.env)),
  );
  const path = resolve(world.cwd, input.output ?? join(root, FABRIC_FILE));
  if (!input.dryRun) await finishPending(root);
  const model = await readManifest(join(root, MODEL_FILE), COMPOSITION_MODEL, world.cwd);
  const file = await readManifest(path, AI_FABRIC, world.cwd);
  const update = updateFabric(file, {
    blueprint:
      input.name === undefined || /[a-z0-9]/i.test(basename(root))
        ? blueprintName(basename(root))
        : input.name,
    agents: configs,
    model: model.before === null ? null : model,
    name: input.name,
    namespace: input.namespace,
    imagePullSecrets: input.imagePullSecrets,
    telemetryEndpoint: endpoint,
    env: world.env,
  });
  update.warnings.unshift(...skipped);
  await finish(file, update, root, input.dryRun, world);
}

function checkNames({ name, namespace }: ManifestInput): void {
  if (name !== undefined) checkLabel(name, "--name");
  if (namespace !== undefined) checkLabel(namespace, "--namespace");
}

async function blueprintRoot(cwd: string): Promise<string> {
  const root = await findBlueprintRoot(cwd);
  if (root !== null) return root;
  throw new BatError(
    "config",
    `"${cwd}" is not in a blueprint, a folder with pyproject.toml and __main__.py and no agent.json; make one with \`bat init blueprint\``,
  );
}

/** The agents that the dispatcher can start, and a warning for each that it cannot. */
async function runnableAgents(
  root: string,
): Promise<{ agents: { folder: string; name: string }[]; skipped: string[] }> {
  const folders: string[] = [];
  const skipped: string[] = [];
  for (const folder of await blueprintAgents(root)) {
    if (await canDispatch(root, folder)) folders.push(folder);
    else skipped.push(`__main__.py never names "${folder}": it is left out`);
  }
  const names = agentNames(folders);
  return { agents: folders.map((folder) => ({ folder, name: names.get(folder)! })), skipped };
}

/** The image that `make build` would make. */
async function imageOf(root: string, flags: ImageFlags, { env, signal }: World): Promise<string> {
  const { image, makefile, error } = await plannedImage({ root, env, signal }, flags);
  if (makefile === null)
    throw new BatError(
      "config",
      "There is no Makefile whose `make build` would say which image runs the agents",
    );
  if (image === null)
    throw new BatError(
      "config",
      `Cannot read the image of \`make build\` from its dry run${error === "" ? ": it runs no docker build with a tag" : `: ${error}`}`,
    );
  if (image.endsWith(":"))
    throw new BatError("usage", `The image "${image}" would have no version; give one with --version`);
  return image;
}

function outcome({ before }: ManifestFile, dryRun: boolean): string {
  if (dryRun) return before === null ? "Would write" : "Would update";
  return before === null ? "Wrote" : "Updated";
}

async function finish(
  file: ManifestFile,
  update: Update,
  root: string,
  dryRun: boolean,
  world: World,
): Promise<void> {
  const { stdout, stderr, cwd } = world;
  file.yaml.update(update.value);
  const after = file.yaml.toString();
  const text = file.before === null && !after.endsWith("\n") ? `${after}\n` : after;
  const change = { path: file.path, before: file.before, after: text };
  const written = await writeChanges([change], { root, cwd, dryRun, stdout });
  for (const warning of update.warnings) stderr.write(`Warning: ${printable(warning)}\n`);
  const say = dryRun ? stderr : stdout;
  const shown = relative(cwd, file.path) || file.path;
  if (written.length === 0) {
    say.write("No changes\n");
    return;
  }
  say.write(`${outcome(file, dryRun)} ${shown}\n`);
  if (update.added.length > 0) say.write(`added: ${update.added.join(", ")}\n`);
  for (const line of update.changes) say.write(`${printable(line)}\n`);
}
