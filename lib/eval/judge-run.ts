import { join, relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import { AnswerCache } from "../judge/cache.ts";
import { loadCalibration } from "../judge/calibration.ts";
import { judgesWith } from "../judge/place.ts";
import { type Panel, readyPanel } from "../judge/settings.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { readDotenv } from "../project/dotenv.ts";
import { scoreLines } from "../report/score-lines.ts";
import { jsonText } from "../store/atomic.ts";
import { RunFolder } from "../store/run-folder.ts";
import { didYouMean } from "../text/nearest.ts";
import { printable } from "../text/printable.ts";
import { type EvalConfig, loadEvalConfig } from "./config.ts";
import { type Fact, RunState } from "./facts.ts";
import { Judging } from "./judging.ts";
import type { ModelResult } from "./observer.ts";
import { parsePlan, type RunPlan } from "./plan.ts";
import { NOT_JUDGED, rewriteResult } from "./result-file.ts";
import { modelResult } from "./results.ts";
import { agentOfRun } from "./target.ts";
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
  const dir = await agentOfRun(input.directory, plan, world.cwd);
  const config = await loadEvalConfig(dir, world.cwd);
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const known = new Map((await loadTasks(config.datasets, checks, dir)).map((task) => [task.id, task]));
  const tasks = plan.tasks.map(({ id }) => {
    const task = known.get(id);
    if (task === undefined)
      throw new BatError("config", `The run has a task that is not in the dataset any more: "${id}"`);
    return task;
  });
  const panel = await panelFor(input, dir, config, world);
  const calibration = await loadCalibration(dir);
  const cache = new AnswerCache(join(resolve(input.directory, ".."), ".judge-cache"), input.cache);
  const results: ModelResult[] = [];
  const maxTokens = config.budget.maxJudgeTokens;
  // A budget is one of a judging: what an earlier one took is not counted.
  state.judgeTokens = 0;
  let notJudged = 0;
  let stopped: string | null = null;
  for (const model of plan.models.keys()) {
    const judging = new Judging({ folder, state, tasks, panel, cache, maxTokens, signal: world.signal });
    judging.addOpen(model, { all: true });
    await judging.drain();
    world.signal.throwIfAborted();
    notJudged += judging.open;
    stopped ??= judging.stopped;
    results.push(await modelResult(folder, state, model, world.now, calibration));
  }
  await rewriteResult(folder, results, { judged: notJudged === 0 && input.rubrics.length === 0 });
  world.stdout.write(
    input.json
      ? `${jsonText({ run: plan.id, not_judged: notJudged, models: results.map(scoresOf) })}\n`
      : text(results, input.directory, world),
  );
  if (notJudged === 0) return 0;
  throw new BatError(
    "run",
    `${notJudged}${NOT_JUDGED}${stopped}; when that is mended, judge again: answers are kept`,
  );
}

async function panelFor(input: JudgeRunInput, dir: string, config: EvalConfig, world: World): Promise<Panel> {
  const env = { ...(await readDotenv(join(dir, ".env"), world.env)), ...world.env };
  const place = { dir, packs: config.plugins, env, signal: world.signal };
  const panel = await readyPanel(judgesWith(config, input.model), place);
  const names = panel.rubrics.map(({ name }) => name);
  for (const rubric of input.rubrics) {
    if (!names.includes(rubric))
      throw new BatError(
        "usage",
        `--rubric: Unknown rubric "${rubric}"${didYouMean(rubric, names) || `; there are ${names.join(", ")}`}`,
      );
  }
  if (input.rubrics.length === 0) return panel;
  return { ...panel, rubrics: panel.rubrics.filter(({ name }) => input.rubrics.includes(name)) };
}

function scoresOf({ model, qualitative, judging }: ModelResult) {
  return { model, scores: qualitative, judging };
}

function text(results: readonly ModelResult[], directory: string, world: World): string {
  const lines = results.flatMap((result) => [printable(result.model), ...scoreLines(result)]);
  return `${[...lines, `Written to ${relative(world.cwd, directory) || "."}`].join("\n")}\n`;
}
