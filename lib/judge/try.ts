import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError, messageOf } from "../errors.ts";
import { parseModel } from "../eval/config.ts";
import type { Episode } from "../eval/episode.ts";
import { findTarget } from "../eval/target.ts";
import { loadTasks } from "../eval/tasks.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { readDotenv } from "../project/dotenv.ts";
import { didYouMean } from "../text/nearest.ts";
import { buildPrompt, type Prompt } from "./prompt.ts";
import { loadRubrics, type Rubric } from "./rubric.ts";
import { type JudgeConfig, readyJudge } from "./settings.ts";

/** Shows the prompt that a judge gets for one rubric and one episode and, unless only that is wanted, its answer. */
export async function tryJudge(
  asked: { rubric: string; episode: string; model: string | undefined; dryRun: boolean },
  world: World,
): Promise<void> {
  const { dir, project, config } = await findTarget({ cwd: world.cwd });
  const chosen = asked.model === undefined ? null : parseModel(asked.model);
  const configured = config.judge as JudgeConfig | null;
  const judge = {
    ...configured,
    ...(chosen === null ? {} : { provider: chosen.provider, model: chosen.model }),
  } as JudgeConfig;
  const mode = judge.mode ?? "full";
  const rubric = pick(await loadRubrics(mode, dir), asked.rubric);
  const episode = await readEpisode(resolve(world.cwd, asked.episode), asked.episode);
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const tasks = await loadTasks(config.datasets, checks, dir);
  const task = tasks.find(({ id }) => id === episode.task_id);
  if (task === undefined)
    throw new BatError("config", `${asked.episode}: its task "${episode.task_id}" is not in the dataset`);
  const settings = {
    mode,
    maxTrajectoryChars: judge.max_trajectory_chars ?? 24_000,
    operator: judge.prompts?.[rubric.name],
  };
  const prompt = buildPrompt(rubric, episode, task, settings);
  world.stdout.write(promptText(prompt));
  if (asked.dryRun) return;
  if (judge.provider === undefined) {
    throw new BatError(
      "config",
      'eval.yaml names no judge: add judge: {provider, model}, or give --model "provider:model", or --dry-run',
    );
  }
  const env = { ...(await readDotenv(join(project?.root ?? dir, ".env"), world.env)), ...world.env };
  const ready = await readyJudge(judge, { dir, packs: config.plugins, env, signal: world.signal });
  const { score, reasoning, tokens, requests } = await ready.judge.ask(rubric.name, prompt);
  const cost = `${requests.length} request(s): ${requests.join(", ")}; ${tokens.in} tokens in, ${tokens.out} out`;
  world.stdout.write(`--- answer\n${rubric.score}: ${score ?? "no score"}\n${reasoning}\n(${cost})\n`);
}

function promptText({ instructions, data }: Prompt): string {
  return `--- instructions\n${instructions}\n\n--- data\n${data}\n\n`;
}

function pick(rubrics: readonly Rubric[], name: string): Rubric {
  const found = rubrics.find((rubric) => rubric.name === name);
  if (found !== undefined) return found;
  const names = rubrics.map((rubric) => rubric.name);
  throw new BatError(
    "usage",
    `Unknown rubric "${name}"${didYouMean(name, names) || `; there are ${names.join(", ")}`}`,
  );
}

async function readEpisode(file: string, shown: string): Promise<Episode> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Episode;
  } catch (error) {
    throw new BatError("usage", `Cannot read the episode ${shown}: ${messageOf(error)}`, { cause: error });
  }
}
