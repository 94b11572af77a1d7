import { stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { BatError } from "../errors.ts";
import { type AgentProject, findBlueprintRoot, resolveAgentProject } from "../project/resolve.ts";
import { checkAgentUrl, type EvalConfig, loadEvalConfig } from "./config.ts";

/** What is evaluated: an agent of ours, one started with a command, or one that runs already. */
export interface EvalTarget {
  kind: "project" | "command" | "url";
  title: string;
  /** Folder of the agent; paths in `eval.yaml` are relative to it. */
  dir: string;
  /** The project of the kit's kind; null for the other kinds. */
  project: AgentProject | null;
  config: EvalConfig;
}

/**
 * Finds what is to be evaluated from a folder. A folder whose `eval/eval.yaml` says how to reach or start the agent needs
 * to be no project of any kind.
 *
 * @param agentUrl overrides the file's `agent.url` and `agent.command`
 * @throws BatError (code `config` or `usage`)
 */
export async function findTarget(place: {
  cwd: string;
  agent?: string | undefined;
  agentUrl?: string | undefined;
}): Promise<EvalTarget> {
  const { cwd, agent, agentUrl } = place;
  if (agentUrl !== undefined) checkAgentUrl(agentUrl);
  const dir = await agentFolder(cwd, agent);
  if (await hasEvalFile(dir)) {
    const loaded = await loadEvalConfig(dir, cwd);
    const config =
      agentUrl === undefined
        ? loaded
        : { ...loaded, agent: { ...loaded.agent, url: agentUrl, command: null } };
    const { url, command } = config.agent;
    const title = basename(dir);
    if (command !== null) return { kind: "command", title, dir, project: null, config };
    if (url !== null) return { kind: "url", title, dir, project: null, config };
  }
  const project = await resolveAgentProject({ cwd, agent });
  return {
    kind: "project",
    title: project.title,
    dir: project.dir,
    project,
    config: await loadEvalConfig(project.dir, cwd),
  };
}

/** The folder that may hold `eval/eval.yaml`: the one named in the blueprint around, else the one we are in. */
async function agentFolder(cwd: string, agent: string | undefined): Promise<string> {
  if (agent === undefined) return cwd;
  const root = await findBlueprintRoot(cwd);
  return join(root ?? cwd, agent);
}

async function hasEvalFile(dir: string): Promise<boolean> {
  return (await stat(join(dir, "eval", "eval.yaml")).catch(() => null)) !== null;
}

/**
 * The folder of the agent that a run evaluated: where it was beside the run, or, for a run that was moved or brought here
 * from another machine, the one we are in.
 *
 * @throws BatError (code `usage`)
 */
export async function agentOfRun(
  directory: string,
  { agent }: { agent: { directory: string } },
  cwd: string,
): Promise<string> {
  const dir = resolve(directory, agent.directory);
  if (await hasEvalFile(dir)) return dir;
  if (await hasEvalFile(cwd)) return cwd;
  const where = `no eval/eval.yaml in "${dir}"`;
  throw new BatError("usage", `The agent of the run is not where it was (${where}); go to its folder`);
}
