import { readFile, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { BatError } from "../errors.ts";
import { findMakefile } from "../image/makefile.ts";
import { canDispatch } from "../project/dispatcher.ts";
import { blueprintAgents, findBlueprintRoot } from "../project/resolve.ts";
import { editConfig } from "../settings/config.ts";
import {
  type AgentOptions,
  type AgentSettings,
  agentValues,
  checkAgentOptions,
  configOf,
} from "./agent-values.ts";
import { type ComposedAgent, planServices } from "./compose.ts";
import { planAgentCode } from "./init-agent.ts";
import { agentFolder, blueprintProject, classStem, projectName } from "./names.ts";
import { FilePlan, finishEarlier, type Scaffolded, type ScaffoldPlace } from "./plan.ts";
import { nextPort, nodePorts, portIn, portOf } from "./ports.ts";
import { renderTemplate, type Values } from "./render.ts";

/** Who is being added where. */
interface Added {
  root: string;
  name: string;
  dir: string;
  force: boolean;
  options: AgentOptions;
  settings: AgentSettings;
  values: Values;
}

/**
 * Adds an agent to the blueprint that a folder is in, with a service for each agent that has none.
 *
 * @throws BatError (code `usage`) outside of a blueprint, for names and settings that cannot be, and for an agent that
 *   exists, without `force`; (code `config`) for a compose file that cannot be edited; nothing is written then
 */
export async function addAgent(
  place: ScaffoldPlace,
  name: string,
  options: AgentOptions & { force: boolean },
): Promise<Scaffolded> {
  const settings = checkAgentOptions(options);
  const root = await blueprintOf(place);
  await finishEarlier(root, place);
  const folder = agentFolder(name, await makeTargets(root));
  const dir = join(root, folder);
  await checkFolder(dir, folder, options.force);
  const project = projectName(folder);
  const values = agentValues(
    {
      folder,
      classStem: classStem(name.trim()),
      project: blueprintProject(basename(root).toLowerCase()),
      description: `${project.toUpperCase()} Agent`,
    },
    settings,
  );
  const warnings = [...settings.warnings];
  const plan = new FilePlan(place);
  await planAgent(
    plan,
    { root, name: folder, dir, force: options.force, options, settings, values },
    warnings,
  );
  if (!(await canDispatch(root, folder)))
    warnings.push(
      `${plan.shown(join(root, "__main__.py"))} names its agents itself: add "${folder}" there to start it`,
    );
  warnings.push(...(await missingExtra(root, settings.provider, plan)));
  return { dir, written: await plan.write(root), warnings };
}

/** The blueprint that a folder is in. Throws BatError (code `usage`) outside of one. */
export async function blueprintOf(place: ScaffoldPlace): Promise<string> {
  const root = await findBlueprintRoot(await realpath(place.cwd));
  if (root !== null) return root;
  throw new BatError(
    "usage",
    `"${place.cwd}" is not in a blueprint: a folder with pyproject.toml and __main__.py and no agent.json. Make one with \`bat init blueprint\`, or an agent of its own with \`bat init agent\``,
  );
}

async function planAgent(plan: FilePlan, added: Added, warnings: string[]): Promise<void> {
  const { root, name, dir, force, options, settings, values } = added;
  const others = await composedAgents(plan, root, name, warnings);
  const used = [
    ...others.flatMap(({ port }) => (port === null ? [] : [port])),
    ...(options.port === undefined ? await nodePorts(root, name) : []),
  ];
  const config = join(dir, "config.yaml");
  const current = await plan.current(config);
  let port: number | null;
  if (current !== null && !force) port = await keepConfig(plan, config, current, added, warnings);
  else {
    const own = current === null ? null : await portOf(config, plan.shown(config), warnings);
    port = options.port ?? own ?? nextPort(used);
    await plan.put(
      config,
      await configOf(await renderTemplate("blueprint-agent/config.yaml", values), port, settings),
    );
  }
  const same = others.find((other) => other.port === port && port !== null);
  if (same !== undefined)
    warnings.push(`${name} and ${same.name} both have port ${port}: they cannot run at once`);
  for (const file of ["__init__.py", "app.py"]) {
    const text = await renderTemplate(`blueprint-agent/${file}`, values);
    if (force) await plan.put(join(dir, file), text);
    else await plan.putNew(join(dir, file), text);
  }
  warnings.push(
    ...(await planAgentCode({ plan, dir, values, settings, pluginFolders: [root], keep: !force })),
  );
  const agents = [...others, { name, port }].sort((a, b) => (a.name < b.name ? -1 : 1));
  const folder = basename(root).toLowerCase();
  await planServices(plan, { root, folder, agents, anew: force ? name : null });
}

/** A configuration that is there stays; only what was asked for is set in it. */
async function keepConfig(
  plan: FilePlan,
  path: string,
  current: string,
  { options }: Added,
  warnings: string[],
): Promise<number | null> {
  const file = plan.shown(path);
  const { port, model, modelProvider, reasoningEffort, serviceTier } = options;
  const provider = modelProvider?.trim().toLowerCase();
  const { text, keys } = editConfig(current, file, {
    port,
    model,
    modelProvider: provider,
    reasoningEffort,
    serviceTier,
  });
  warnings.push(`${file} was there and is kept${keys.length === 0 ? "" : `, with ${keys.join(", ")} set`}`);
  if (keys.length > 0) await plan.put(path, text);
  return await portIn(text, file);
}

/** The other agents and their ports. */
export async function composedAgents(
  plan: FilePlan,
  root: string,
  name: string,
  warnings: string[],
): Promise<ComposedAgent[]> {
  const others = (await blueprintAgents(root)).filter((other) => other !== name);
  return await Promise.all(
    others.map(async (other) => {
      const path = join(root, other, "config.yaml");
      return { name: other, port: await portOf(path, plan.shown(path), warnings) };
    }),
  );
}

async function checkFolder(dir: string, name: string, force: boolean): Promise<void> {
  const is = async (...file: string[]) => (await stat(join(dir, ...file)).catch(() => null)) !== null;
  const found = await stat(dir).catch(() => null);
  if (found === null) return;
  if (!found.isDirectory())
    throw new BatError("usage", `"${dir}" is a file; choose another name, or remove it`);
  if (await is("pyproject.toml"))
    throw new BatError("usage", `"${dir}" is a project of its own; choose another name for the agent`);
  if (!force && (await is("config.yaml")) && (await is("agent.json"))) {
    throw new BatError(
      "usage",
      `The blueprint has an agent "${name}" already; --force writes its files anew, choose another name otherwise`,
    );
  }
}

/** Names that make would run another recipe for. */
export async function makeTargets(root: string): Promise<Set<string>> {
  const targets = new Set(["build", "push", "clean"]);
  const path = await findMakefile(root);
  const text = path === null ? "" : await readFile(path, "utf8").catch(() => "");
  for (const [, names] of text.matchAll(/^([\w.-]+(?: +[\w.-]+)*) *:(?!=|:=)/gm))
    for (const target of names!.split(/ +/)) targets.add(target.toLowerCase());
  return targets;
}

/** A provider whose extra the project does not list: the agent could not have its model. */
async function missingExtra(root: string, provider: string, plan: FilePlan): Promise<string[]> {
  const path = join(root, "pyproject.toml");
  const text = await readFile(path, "utf8").catch(() => "");
  const extras = [...text.matchAll(/bat-adk\s*\[([^\]]*)\]/g)].flatMap(([, list]) => list!.split(","));
  if (extras.length === 0 || extras.some((extra) => ["all", provider].includes(extra.trim()))) return [];
  return [
    `${plan.shown(path)} lists bat-adk without the extra "${provider}": run \`uv add "bat-adk[${provider},telemetry]"\``,
  ];
}
