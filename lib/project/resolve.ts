import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BatError } from "../errors.ts";
import { didYouMean } from "../text/nearest.ts";

/** The agent that a command acts on. */
export interface AgentProject {
  /** Folder that it is started in. */
  root: string;
  /** Folder of the agent itself; the root for a standalone one. */
  dir: string;
  /** Its folder's name in a blueprint; null for a standalone one. */
  name: string | null;
  configPath: string;
  command: string[];
  /** What its start needs in the environment. */
  env: Record<string, string>;
  /** For messages. */
  title: string;
}

const AGENT_FILES = ["config.yaml", "agent.json", "pyproject.toml"] as const;

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

async function isBlueprintRoot(dir: string): Promise<boolean> {
  const [project, main, card] = await Promise.all(
    ["pyproject.toml", "__main__.py", "agent.json"].map((name) => isFile(join(dir, name))),
  );
  return project === true && main === true && card === false;
}

/** The blueprint that a folder is, or is an agent folder of; no further up. */
export async function findBlueprintRoot(dir: string): Promise<string | null> {
  if (await isBlueprintRoot(dir)) return dir;
  if (await isFile(join(dir, "pyproject.toml"))) return null;
  const parent = dirname(dir);
  return parent !== dir && (await isBlueprintRoot(parent)) ? parent : null;
}

/** Names of a blueprint's agents: folders with configuration and card and no project of their own. */
export async function blueprintAgents(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  const names = await Promise.all(
    folders.map(async ({ name }) => {
      const files = ["config.yaml", "agent.json", "pyproject.toml"];
      const [config, card, project] = await Promise.all(files.map((file) => isFile(join(root, name, file))));
      return config === true && card === true && project === false ? name : null;
    }),
  );
  return names.filter((name) => name !== null).sort();
}

/**
 * The agent that a folder, and an agent named on the command line, mean.
 *
 * @throws BatError (code `config`, or `usage` for the argument) that says what is missing and what to do
 */
export async function resolveAgentProject(place: {
  cwd: string;
  agent?: string | undefined;
}): Promise<AgentProject> {
  const cwd = await realpath(place.cwd);
  const root = await findBlueprintRoot(cwd);
  if (root === null) {
    if (place.agent === undefined) return await standalone(cwd);
    throw new BatError(
      "usage",
      `AGENT "${place.agent}" was given, but "${cwd}" is not in a blueprint; go to the agent's own folder`,
    );
  }
  const agents = await blueprintAgents(root);
  const name = place.agent === undefined ? nameOfFolder(cwd, root, agents) : nameGiven(place.agent, agents);
  if (!agents.includes(name)) throw await notAnAgent(root, name, agents);
  return {
    root,
    dir: join(root, name),
    name,
    configPath: join(root, name, "config.yaml"),
    command: ["uv", "run", ".", name],
    env: { CONFIG_PATH: `${name}/config.yaml` },
    title: name,
  };
}

function nameOfFolder(cwd: string, root: string, agents: readonly string[]): string {
  if (cwd !== root) return basename(cwd);
  throw new BatError("usage", `"${root}" is a blueprint: say which agent. Agents: ${listed(agents)}`);
}

/** As a shell completes it, with a slash, a name is one too. */
function nameGiven(agent: string, agents: readonly string[]): string {
  const name = agent.replace(/\/+$/, "");
  if (name !== "" && name !== "." && name !== ".." && !name.includes("/")) return name;
  throw new BatError(
    "usage",
    `AGENT must be the name of an agent, got "${agent}". Agents: ${listed(agents)}`,
  );
}

function listed(agents: readonly string[]): string {
  return agents.length === 0 ? "(none yet: run bat add agent)" : agents.join(", ");
}

async function standalone(dir: string): Promise<AgentProject> {
  const missing: string[] = [];
  for (const name of AGENT_FILES) if (!(await isFile(join(dir, name)))) missing.push(name);
  if (missing.length > 0) {
    throw new BatError(
      "config",
      `"${dir}" is no agent: ${missing.join(", ")} missing. Go to an agent's folder or make one with \`bat init agent\`; to evaluate an agent of another kind, set agent.url or agent.command in eval/eval.yaml`,
    );
  }
  return {
    root: dir,
    dir,
    name: null,
    configPath: join(dir, "config.yaml"),
    command: ["uv", "run", "."],
    env: {},
    title: basename(dir),
  };
}

async function notAnAgent(root: string, name: string, agents: readonly string[]): Promise<BatError> {
  const folder = join(root, name);
  if (await isFile(join(folder, "pyproject.toml"))) {
    return new BatError("config", `"${folder}" is a project of its own, no agent of the blueprint "${root}"`);
  }
  const missing: string[] = [];
  for (const file of ["config.yaml", "agent.json"])
    if (!(await isFile(join(folder, file)))) missing.push(file);
  const exists = (await stat(folder).catch(() => null))?.isDirectory() ?? false;
  // With nothing missing the name is another's in other letters, on a disk that does not tell them apart.
  if (!exists || missing.length === 0) {
    const hint = didYouMean(name, agents);
    return new BatError(
      "usage",
      `Unknown agent "${name}"${hint || "."} Agents of "${root}": ${listed(agents)}`,
    );
  }
  return new BatError(
    "config",
    `"${folder}" is no agent: ${missing.join(", ")} missing; make agents with \`bat add agent\``,
  );
}
