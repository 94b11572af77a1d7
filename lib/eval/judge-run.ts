import { join, relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import { AnswerCache } from "../judge/cache.ts";
import { type JudgeConfig, type ReadyJudge, readyJudge } from "../judge/settings.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { readDotenv } from "../project/dotenv.ts";
import { jsonText } from "../store/atomic.ts";
import { RunFolder } from "../store/run-folder.ts";
import { didYouMean } from "../text/nearest.ts";
import { loadEvalConfig, parseModel } from "./config.ts";
import { type Fact, RunState } from "./facts.ts";
import { Judging } from "./judging.ts";
import { parsePlan, type RunPlan } from "./plan.ts";
import { modelResult } from "./results.ts";
import { loadTasks } from "./tasks.ts";

/** What is to be judged, and by whom. */
export interface JudgeRunInput {
  directory: string;
  /** Only these rubrics; all when empty. */
  rubrics: readonly string[];
  /** `provider:model` in place of the configured judge's. */
  model: string | undefined;
  /** Take answers that are known already. */
  cache: boolean;
  json: boolean;
}

/**
 * Scores the episodes of a finished run, or scores them anew, without the agent. Scores of rubrics that are not asked
 * for stay. Resolves to the exit code.
 */
export async function judgeRun(input: JudgeRunInput, world: World): Promise<number> {
  const { folder: opened, facts } = await RunFolder.open<RunPlan, Fact>(
    input.directory,
    parsePlan,
    world.now,
  );
  await using folder = opened;
  const { plan } = folder;
  const state = new RunState(facts);
  const dir = resolve(input.directory, plan.agent.directory);
  const config = await loadEvalConfig(dir, world.cwd);
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const known = new Map((await loadTasks(config.datasets, checks, dir)).map((task) => [task.id, task]));
  const tasks = plan.tasks.map(({ id }) => {
    const task = known.get(id);
    if (task === undefined)
      throw new BatError("config", `The run has a task that is not in the dataset any more: "${id}"`);
    return task;
  });
  const ready = await judgeFor(input, dir, config.judge as JudgeConfig | null, config.plugins, world);
  const cache = new AnswerCache(join(resolve(input.directory, ".."), ".judge-cache"), input.cache);
  const results: { model: string; scores: Record<string, unknown> }[] = [];
  for (const [model, { name }] of plan.models.entries()) {
    const judging = new Judging({ folder, state, tasks, ready, cache, signal: world.signal });
    judging.addOpen(model, { all: true });
    await judging.drain();
    world.signal.throwIfAborted();
    const result = await modelResult(folder, state, model, world.now);
    results.push({ model: name, scores: result.qualitative });
  }
  world.stdout.write(
    input.json ? `${jsonText({ run: plan.id, models: results })}\n` : text(results, input.directory, world),
  );
  return 0;
}

async function judgeFor(
  input: JudgeRunInput,
  dir: string,
  config: JudgeConfig | null,
  packs: readonly string[],
  world: World,
): Promise<ReadyJudge> {
  const chosen = input.model === undefined ? null : parseModel(input.model);
  if (config === null && chosen === null) {
    throw new BatError(
      "config",
      'eval.yaml names no judge: add judge: {provider, model}, or give --model "provider:model"',
    );
  }
  const judge = {
    ...config,
    ...(chosen === null ? {} : { provider: chosen.provider, model: chosen.model }),
  } as JudgeConfig;
  const env = { ...(await readDotenv(join(dir, ".env"), world.env)), ...world.env };
  const ready = await readyJudge(judge, { dir, packs, env, signal: world.signal });
  const names = ready.rubrics.map(({ name }) => name);
  for (const rubric of input.rubrics) {
    if (!names.includes(rubric))
      throw new BatError(
        "usage",
        `--rubric: Unknown rubric "${rubric}"${didYouMean(rubric, names) || `; there are ${names.join(", ")}`}`,
      );
  }
  const rubrics =
    input.rubrics.length === 0
      ? ready.rubrics
      : ready.rubrics.filter(({ name }) => input.rubrics.includes(name));
  return { ...ready, rubrics };
}

function text(
  results: readonly { model: string; scores: Record<string, unknown> }[],
  directory: string,
  world: World,
): string {
  const lines = results.flatMap(({ model, scores }) => [
    model,
    ...Object.entries(scores).map(([field, score]) => {
      const { avg, min, max, count } = score as { avg: number; min: number; max: number; count: number };
      return `  ${field}: ${avg.toFixed(2)} (${min} to ${max}, ${count} episodes)`;
    }),
  ]);
  return `${[...lines, `Written to ${relative(world.cwd, directory) || "."}`].join("\n")}\n`;
}
