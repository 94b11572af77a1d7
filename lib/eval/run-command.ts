import { mkdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError, messageOf } from "../errors.ts";
import { packageVersion } from "../package.ts";
import { observerFor } from "../report/observer-for.ts";
import { renderResults } from "../report/results-table.ts";
import { jsonText, writeFileAtomic } from "../store/atomic.ts";
import { RunFolder } from "../store/run-folder.ts";
import { sourceDifferences } from "../store/source-digest.ts";
import { type Fact, type NewFact, RunState } from "./facts.ts";
import { removeUnjournalled, reopenLost } from "./fold.ts";
import type { RunObserver, RunResult } from "./observer.ts";
import { openModel } from "./open-model.ts";
import { parsePlan, planDifferences, type RunPlan, type RunRequest } from "./plan.ts";
import { modelName, type PreparedRun, planRun, prepareRun, readSourceFiles } from "./prepare.ts";
import { timestamp } from "./results.ts";
import { executeRun, type RunInput } from "./run.ts";
import { agentOfRun } from "./target.ts";

/** What a run may be told beside what is evaluated; it decides nothing about an episode. */
export interface RunOptions {
  concurrency?: number | undefined;
  failUnder?: number | undefined;
  failFast?: boolean | undefined;
  junit?: string | undefined;
  json?: boolean | undefined;
  /** False asks the judge anew where its answer is known. */
  judgeCache?: boolean | undefined;
}

/** Evaluates an agent from its folder: the one way in, for `eval run` and `demo` alike. Resolves to the exit code. */
export async function evaluate(
  place: { cwd: string; agent?: string | undefined; outputDir?: string | undefined },
  request: RunRequest,
  options: RunOptions & { dryRun?: boolean | undefined },
  world: World,
): Promise<RunResult | null> {
  const { env, signal } = world;
  const report = reportFile(options, world);
  const prepared = await prepareRun({ ...place, request, report, env, signal });
  if (options.dryRun === true) {
    world.stdout.write(dryRunText(prepared, options, world));
    return null;
  }
  await checkReport(options, world);
  await makeOutputFolder(
    prepared.outputDir,
    place.outputDir === undefined ? "evaluation.output_dir" : "--output-dir",
  );
  await using folder = await newRun(prepared, world);
  return await carryOut(folder, new RunState(), prepared, options, world, { resumed: false });
}

async function makeOutputFolder(folder: string, setting: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "EEXIST" ? "there is a file of that name" : messageOf(error);
    throw new BatError("config", `${setting}: Cannot make the folder "${folder}": ${why}`, { cause: error });
  }
}

async function newRun(prepared: PreparedRun, world: World): Promise<RunFolder<RunPlan, Fact>> {
  const at = world.now();
  const base = timestamp(at);
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? base : `${base}-${n}`;
    const directory = join(prepared.outputDir, id);
    try {
      const folder = await RunFolder.create<RunPlan, Fact>(
        directory,
        planRun(prepared, id, directory, at),
        world.now,
      );
      const { source } = prepared;
      if (source.digest !== null) await writeFileAtomic(folder.path("source.json"), jsonText(source.files));
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Continues a run that was stopped anywhere. */
export async function resume(
  directory: string,
  options: RunOptions & { force?: boolean | undefined },
  world: World,
): Promise<RunResult> {
  await checkReport(options, world);
  const { folder: opened, facts } = await RunFolder.open<RunPlan, Fact>(directory, parsePlan, world.now);
  await using folder = opened;
  const { plan } = folder;
  const cwd = await agentOfRun(directory, plan, world.cwd);
  const outputDir = resolve(directory, "..");
  const { env, signal } = world;
  const report = reportFile(options, world);
  const prepared = await prepareRun({ cwd, request: plan.request, outputDir, report, env, signal });
  const differences = planDifferences(plan, planRun(prepared, plan.id, directory, world.now()));
  differences.push(...(await sourceChanges(plan, prepared, directory)));
  if (differences.length > 0 && options.force !== true) {
    const forced = goneFrom(plan, prepared).length === 0;
    throw new BatError(
      "config",
      `Cannot resume run ${plan.id}, it would not be the same run: ${differences.join("; ")}${forced ? "; --force goes on all the same and records it" : ""}`,
    );
  }
  const aligned = alignToPlan(plan, prepared);
  const state = new RunState(facts);
  await removeUnjournalled(folder, state);
  const lost = await reopenLost(folder, state);
  if (lost > 0)
    aligned.warnings.push(`${lost} finished attempts have no episode on disk any more: they are run anew`);
  return await carryOut(folder, state, aligned, options, world, { resumed: true, forced: differences });
}

/** What a plan needs and the files do not have any more. */
function goneFrom(plan: RunPlan, { tasks, models }: PreparedRun): string[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const names = new Set(models.map(modelName));
  return [
    ...plan.tasks.filter(({ id }) => !ids.has(id)).map(({ id }) => `task "${id}"`),
    ...plan.models.filter(({ name }) => !names.has(name)).map(({ name }) => `model ${name}`),
  ];
}

/** Tasks and models as the plan counts them, though the files may have others by now. What is gone cannot be carried out. */
function alignToPlan(plan: RunPlan, prepared: PreparedRun): PreparedRun {
  const gone = goneFrom(plan, prepared);
  if (gone.length > 0)
    throw new BatError("config", `Cannot resume run ${plan.id}: it needs what is gone: ${gone.join(", ")}`);
  const tasks = plan.tasks.map(({ id }) => prepared.tasks.find((one) => one.id === id)!);
  const models = plan.models.map(({ name }, i) => {
    const same = prepared.models[i];
    if (same !== undefined && modelName(same) === name) return same;
    return prepared.models.find((one) => modelName(one) === name)!;
  });
  return { ...prepared, tasks, models, k: plan.settings.k };
}

async function sourceChanges(plan: RunPlan, prepared: PreparedRun, directory: string): Promise<string[]> {
  const { source } = prepared;
  if (plan.source.digest === null || source.digest === null || plan.source.digest === source.digest)
    return [];
  const before = await readSourceFiles(directory);
  // Killed between its plan and the list of its source.
  if (before === null) return ["the agent's source has changed"];
  const changes = sourceDifferences(before, source.files);
  const more = changes.length > 10 ? ` (+${changes.length - 10} more)` : "";
  return [`the agent's source has changed: ${changes.slice(0, 10).join(", ")}${more}`];
}

async function carryOut(
  folder: RunFolder<RunPlan, Fact>,
  state: RunState,
  prepared: PreparedRun,
  options: RunOptions,
  world: World,
  { resumed, forced = [] }: { resumed: boolean; forced?: string[] },
): Promise<RunResult> {
  const { plan } = folder;
  const { config } = prepared.target;
  const opened: NewFact = {
    fact: "run-opened",
    pid: process.pid,
    version: packageVersion(),
    resumed,
    ...(forced.length === 0 ? {} : { forced }),
  };
  await folder.record(opened, { sync: true });
  const concurrency = options.concurrency ?? config.concurrency;
  using observer = observerFor(world, { json: options.json === true });
  announce(folder, state, prepared, concurrency, observer);
  const { maxTokens, maxMinutes } = config.budget;
  const result = await executeRun({
    folder,
    state,
    tasks: prepared.tasks,
    checks: prepared.checks,
    settings: {
      concurrency,
      turnTimeoutMs: config.turnTimeoutMs,
      attemptTimeoutMs: config.attemptTimeoutMs,
      retries: config.retries,
      contextIds: config.contextIds,
      failFast: options.failFast === true,
      maxTokens,
      deadline: maxMinutes === null ? null : Date.now() + maxMinutes * 60_000,
    },
    openModel: (model, count) =>
      openModel({ prepared, folder, state, observer, env: world.env, signal: world.signal }, model, count),
    judge: await judgeWithCache(prepared, options),
    calibration: prepared.calibration,
    failUnder: options.failUnder ?? null,
    observer,
    signal: world.signal,
    now: world.now,
  });
  if (options.json === true) world.stdout.write(`${jsonText({ ...result, plan: plan.id })}\n`);
  else world.stdout.write(renderResults(result, world));
  // After the result is shown: a report that cannot be written does not take that along.
  const report = reportFile(options, world);
  if (report !== undefined) {
    const { writeReport } = await import("./report-file.ts");
    await writeReport("junit", report, { folder, state, result, prepared });
  }
  return result;
}

async function judgeWithCache(
  { panel, outputDir, target }: PreparedRun,
  { judgeCache }: RunOptions,
): Promise<RunInput["judge"]> {
  if (panel === null) return null;
  const { AnswerCache } = await import("../judge/cache.ts");
  const cache = new AnswerCache(join(outputDir, ".judge-cache"), judgeCache !== false);
  return { panel, cache, maxTokens: target.config.budget.maxJudgeTokens };
}

function announce(
  folder: RunFolder<RunPlan, Fact>,
  state: RunState,
  prepared: PreparedRun,
  concurrency: number,
  observer: RunObserver,
): void {
  const { plan } = folder;
  let done = 0;
  for (const key of state.keys()) if (state.isClosed(key)) done += 1;
  for (const warning of prepared.warnings) observer.warning(warning);
  observer.runStarted({
    run: plan.id,
    directory: folder.directory,
    agent: plan.agent.title,
    models: plan.models.map(({ name }) => name),
    tasks: plan.tasks.length,
    k: plan.settings.k,
    planned: plan.planned,
    done,
    concurrency,
  });
}

function reportFile({ junit }: RunOptions, world: World): string | undefined {
  return junit === undefined ? undefined : resolve(world.cwd, junit);
}

async function checkReport(options: RunOptions, world: World): Promise<void> {
  const report = reportFile(options, world);
  if (report === undefined) return;
  const { prepareReport } = await import("./report-file.ts");
  await prepareReport("--junit", report);
}

function dryRunText(prepared: PreparedRun, options: RunOptions, world: World): string {
  const { target, models, tasks, k, outputDir, warnings } = prepared;
  const { config } = target;
  const start =
    target.kind === "url"
      ? `running at ${config.agent.url}`
      : `started with \`${(config.agent.command ?? target.project?.command ?? []).join(" ")}\``;
  const lines = [
    ...warnings.map((warning) => `Warning: ${warning}`),
    `Would evaluate ${target.title}, ${start}`,
    `Models: ${models.map(({ provider, model }) => `${provider}:${model}`).join(", ")}`,
    `Attempts: ${models.length} model(s) × ${tasks.length} task(s) × ${k} = ${models.length * tasks.length * k}, ${options.concurrency ?? config.concurrency} at once`,
    `Results: ${relative(world.cwd, outputDir) || "."}`,
    "Tasks:",
    ...tasks.map(({ id, turns }) => `  ${id} (${turns.length} turn${turns.length === 1 ? "" : "s"})`),
  ];
  return `${lines.join("\n")}\n`;
}
