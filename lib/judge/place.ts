import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError, messageOf } from "../errors.ts";
import { type EvalConfig, parseModel } from "../eval/config.ts";
import type { Episode } from "../eval/episode.ts";
import { findTarget } from "../eval/target.ts";
import { loadTasks, type TaskSpec } from "../eval/tasks.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { type PluginSource, pluginSources } from "../plugin/sources.ts";
import { readDotenv } from "../project/dotenv.ts";
import { type JudgeConfig, type Panel, readyPanel } from "./settings.ts";

/** A project whose episodes are judged apart from a run. */
export interface JudgedProject {
  dir: string;
  config: EvalConfig;
  sources: PluginSource[];
  tasks: Map<string, TaskSpec>;
  /** The judges, ready to be asked. Throws BatError where one lacks something. */
  panel: (model: string | undefined) => Promise<Panel>;
}

/** The project that a command is called in, with its tasks and its judges. */
export async function judgedProject(world: World): Promise<JudgedProject> {
  const { dir, project, config } = await findTarget({ cwd: world.cwd });
  const sources = pluginSources({ projectDir: dir, packs: config.plugins });
  const checks = await loadPlugins("checks", sources);
  const tasks = new Map((await loadTasks(config.datasets, checks, dir)).map((task) => [task.id, task]));
  const panel = async (model: string | undefined): Promise<Panel> => {
    const env = { ...(await readDotenv(join(project?.root ?? dir, ".env"), world.env)), ...world.env };
    const place = { dir, packs: config.plugins, env, signal: world.signal };
    return await readyPanel(judgesWith(config, model), place);
  };
  return { dir, config, sources, tasks, panel };
}

/**
 * The judges of a configuration, or one with its settings and another model.
 *
 * @throws BatError (code `config`) where there is neither
 */
export function judgesWith({ judges, providers }: EvalConfig, model: string | undefined): JudgeConfig[] {
  if (model === undefined) {
    if (judges.length > 0) return judges;
    throw new BatError(
      "config",
      'eval.yaml names no judge: add judge: {provider, model}, or give --model "provider:model"',
    );
  }
  const chosen = parseModel(model, providers);
  return [{ ...judges[0], provider: chosen.provider, model: chosen.model }];
}

/** Reads an episode's file. Throws BatError (code `usage`) for what is none. */
export async function readEpisodeFile(file: string, shown: string): Promise<Episode> {
  try {
    const episode = JSON.parse(await readFile(file, "utf8")) as Episode;
    if (typeof episode.task_id !== "string" || typeof episode.trace !== "object")
      throw new TypeError("it has no task_id and trace");
    return episode;
  } catch (error) {
    throw new BatError("usage", `Cannot read the episode ${shown}: ${messageOf(error)}`, { cause: error });
  }
}
