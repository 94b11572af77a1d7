import { relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import { loadCalibration } from "../judge/calibration.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { jsonText } from "../store/atomic.ts";
import { RunFolder, readRun } from "../store/run-folder.ts";
import { printable } from "../text/printable.ts";
import { loadEvalConfig } from "./config.ts";
import { type Fact, type NewFact, RunState } from "./facts.ts";
import { type StoredEpisode, storedEpisodes } from "./fold.ts";
import type { ModelResult } from "./observer.ts";
import { parsePlan, type RunPlan } from "./plan.ts";
import { rewriteResult } from "./result-file.ts";
import { modelResult } from "./results.ts";
import { wilson } from "./statistics.ts";
import { agentOfRun } from "./target.ts";
import { loadTasks, type TaskSpec } from "./tasks.ts";
import { decide } from "./verdict.ts";

interface CheckInput {
  directory: string;
  dataset: string | undefined;
  write: boolean;
  failUnder: number | undefined;
  json: boolean;
}

interface Change {
  model: string;
  task: string;
  attempt: number;
  before: boolean;
  after: boolean;
  reason: string;
}

/** What deciding anew came to for one model. */
interface Decided {
  model: string;
  carried_out: number;
  passed: number;
  passed_before: number;
  changes: Change[];
}

/**
 * Decides the episodes of a run anew against the tasks as they are now. The agent is not needed and nothing is written,
 * unless that is asked for. Resolves to the exit code.
 */
export async function checkRun(input: CheckInput, world: World): Promise<number> {
  const { directory } = input;
  if (input.write) {
    const { folder, facts } = await RunFolder.open<RunPlan, Fact>(directory, parsePlan, world.now);
    await using held = folder;
    return await decideAll(held, new RunState(facts), held, input, world);
  }
  const { plan, facts } = await readRun<RunPlan, Fact>(directory, parsePlan);
  const folder = { plan, path: (...parts: string[]) => resolve(directory, ...parts) };
  return await decideAll(folder, new RunState(facts), null, input, world);
}

async function decideAll(
  folder: Pick<RunFolder<RunPlan, Fact>, "plan" | "path">,
  state: RunState,
  writer: RunFolder<RunPlan, Fact> | null,
  input: CheckInput,
  world: World,
): Promise<number> {
  const { plan } = folder;
  const dir = await agentOfRun(input.directory, plan, world.cwd);
  const config = await loadEvalConfig(dir, world.cwd);
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const datasets = input.dataset === undefined ? config.datasets : [input.dataset];
  const tasks = await loadTasks(datasets, checks, input.dataset === undefined ? dir : world.cwd);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const gone = plan.tasks.filter(({ id }) => !byId.has(id)).map(({ id }) => id);
  if (gone.length > 0)
    throw new BatError(
      "config",
      `The run has tasks that are not in ${datasets.join(", ")}: ${gone.join(", ")}`,
    );
  const calibration = writer === null ? null : await loadCalibration(dir);
  const results: Decided[] = [];
  const written: ModelResult[] = [];
  for (const [model, { name }] of plan.models.entries()) {
    const result: Decided = { model: name, carried_out: 0, passed: 0, passed_before: 0, changes: [] };
    for await (const stored of storedEpisodes(folder, state, model)) {
      if (stored.episode.aux.outcome === "not-carried-out") continue;
      const task = byId.get(stored.episode.task_id)!;
      const decided = decideOne(stored, task, checks, result);
      if (writer !== null) await rewrite(writer, state, stored, decided);
    }
    results.push(result);
    if (writer !== null) written.push(await modelResult(folder, state, model, world.now, calibration));
  }
  if (writer !== null) await rewriteResult(folder, written);
  world.stdout.write(
    input.json
      ? `${jsonText({ run: plan.id, written: writer !== null, models: results })}\n`
      : text(results, input, world),
  );
  const below = results.some(
    ({ passed, carried_out }) => carried_out === 0 || passed / carried_out < (input.failUnder ?? 0),
  );
  return input.failUnder !== undefined && below ? 1 : 0;
}

function decideOne(
  { episode, attempt }: StoredEpisode,
  task: TaskSpec,
  checks: Parameters<typeof decide>[2],
  result: Decided,
) {
  const { final_status: status, final_output: output, trace, verdict: before } = episode;
  const verdict = decide(task.expected, { status, output, trajectory: trace.trajectory }, checks);
  result.carried_out += 1;
  if (verdict.passed) result.passed += 1;
  if (before.passed) result.passed_before += 1;
  if (verdict.passed !== before.passed) {
    const { passed: after, reason } = verdict;
    result.changes.push({
      model: result.model,
      task: task.id,
      attempt,
      before: before.passed,
      after,
      reason,
    });
  }
  return { ...episode, expected_outcome: task.expected.expected_outcome ?? null, verdict };
}

async function rewrite(
  writer: RunFolder<RunPlan, Fact>,
  state: RunState,
  stored: StoredEpisode,
  episode: object,
): Promise<void> {
  await writer.keep(stored.file, jsonText(episode), (digest) => {
    const fact: NewFact = { fact: "attempt-decided-anew", slot: stored.key, episode: digest };
    state.apply(fact);
    return fact;
  });
}

function text(results: readonly Decided[], { directory, write }: CheckInput, world: World): string {
  const lines: string[] = [];
  for (const { model, carried_out, passed, passed_before, changes } of results) {
    const rate = wilson(passed, carried_out);
    const share =
      rate === null
        ? ""
        : ` (${Math.round(rate.value * 100)} %, 95 % ${Math.round(rate.low * 100)}–${Math.round(rate.high * 100)} %)`;
    lines.push(`${model}: ${passed} of ${carried_out} pass${share}, before ${passed_before}`);
    for (const { task, attempt, after, reason } of changes)
      lines.push(`  ${task} try ${attempt} now ${after ? "passes" : "fails"}: ${printable(reason)}`);
  }
  lines.push(
    write
      ? `Written to ${relative(world.cwd, directory) || "."}`
      : "Nothing was written; --write puts these verdicts into the run",
  );
  return `${lines.join("\n")}\n`;
}
