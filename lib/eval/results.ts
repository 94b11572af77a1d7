import type { Calibration } from "../judge/calibration.ts";
import { AtomicFile, jsonText, writeFileAtomic } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import { percentage } from "../text/python-round.ts";
import { Durations, Spread, Tokens } from "./aggregates.ts";
import { countSlots } from "./conservation.ts";
import type { Episode } from "./episode.ts";
import type { Fact, RunState } from "./facts.ts";
import { type StoredEpisode, storedEpisodes } from "./fold.ts";
import type { ModelResult, TaskResult } from "./observer.ts";
import type { RunPlan } from "./plan.ts";
import { ScoreFold } from "./score-fold.ts";
import { passAtK, passHatK, wilson } from "./statistics.ts";
import { failureReason } from "./verdict.ts";

/** How many failures of a task a result names; each is in its episode all the same. */
const MOST_FAILURES = 20;

type Folder = Pick<RunFolder<RunPlan, Fact>, "plan" | "path">;

/**
 * The result of one model, and its `summary.json` and `metrics.json`: one pass over its episodes, which are the only
 * truth. A model without any finished attempt has no files.
 */
export async function modelResult(
  folder: Folder,
  state: RunState,
  model: number,
  now: () => Date,
  calibration: Calibration | null = null,
): Promise<ModelResult> {
  const { plan } = folder;
  const { name, folder: place } = plan.models[model]!;
  const { carriedOut, notCarriedOut } = countSlots(plan, state, model);
  const fold = new ModelFold(plan, calibration);
  if (carriedOut + notCarriedOut > 0) {
    await using metrics = await AtomicFile.create(folder.path(place, "metrics.json"));
    await metrics.write('{\n  "per_episode": [');
    let first = true;
    for await (const stored of storedEpisodes(folder, state, model)) {
      fold.add(stored);
      const row = jsonText(metricsRow(stored.episode)).replaceAll("\n", "\n    ");
      await metrics.write(`${first ? "" : ","}\n    ${row}`);
      first = false;
    }
    await metrics.write(
      `\n  ],\n  "summary": ${jsonText(fold.metricsSummary()).replaceAll("\n", "\n  ")}\n}`,
    );
    await metrics.commit();
    await writeFileAtomic(folder.path(place, "summary.json"), jsonText(fold.summary(model, now())));
  }
  return fold.result({
    model: name,
    folder: place,
    error: state.modelError(model),
    restarts: state.restarts(model),
  });
}

/** An episode's line in `metrics.json`. */
function metricsRow(episode: Episode): Record<string, unknown> {
  const { totals } = episode.trace.trajectory;
  const { passed, reason } = episode.verdict;
  return {
    task_id: episode.task_id,
    expected_outcome: episode.expected_outcome,
    status: episode.final_status,
    success: passed,
    time: { wall_ms: episode.trace.wall_ms },
    tokens: {
      prompt_tokens: totals.tokens_in,
      completion_tokens: totals.tokens_out,
      total_tokens: totals.tokens_in + totals.tokens_out,
      cached_prompt_pct: percentage(totals.tokens_cached, totals.tokens_in),
    },
    verdict: { passed, reason },
    ...(episode.qualitative_scores === null ? {} : { qualitative: episode.qualitative_scores }),
    ...(episode.aux.outcome === "not-carried-out" ? { outcome: "not-carried-out" } : {}),
  };
}

class TaskFold {
  finished = 0;
  carriedOut = 0;
  passed = 0;
  readonly tokens = new Tokens();
  readonly durations = new Durations();
  readonly failures: TaskResult["failures"] = [];

  add({ attempt, file, episode }: StoredEpisode): void {
    const outcome = episode.aux.outcome ?? "carried-out";
    const { passed } = episode.verdict;
    this.finished += 1;
    if (outcome === "carried-out") {
      this.carriedOut += 1;
      this.tokens.add(episode);
      this.durations.add(episode.trace.wall_ms);
      if (passed) this.passed += 1;
    }
    if (passed || this.failures.length >= MOST_FAILURES) return;
    this.failures.push({ attempt, outcome, reason: failureReason(episode.verdict), episode: file });
  }

  result(taskId: string, planned: number): TaskResult {
    const { carriedOut: n, passed: c } = this;
    const ks = Array.from({ length: n }, (_, i) => i + 1);
    return {
      task_id: taskId,
      planned,
      carried_out: n,
      passed: c,
      failed: n - c,
      pass_rate: wilson(c, n),
      pass_at_k: Object.fromEntries(ks.map((k) => [String(k), passAtK(n, c, k)!])),
      pass_hat_k: Object.fromEntries(ks.map((k) => [String(k), passHatK(n, c, k)!])),
      tokens: this.tokens.plain,
      wall_ms: this.durations.summary(),
      failures: this.failures,
    };
  }
}

/** All of a model's episodes, folded. */
class ModelFold {
  readonly #plan: RunPlan;
  readonly #tasks: TaskFold[];
  readonly #wall = new Spread();
  readonly #total = new Spread();
  readonly #tokens = new Tokens();
  readonly #durations = new Durations();
  readonly #scores: ScoreFold;

  constructor(plan: RunPlan, calibration: Calibration | null) {
    this.#plan = plan;
    this.#scores = new ScoreFold(calibration);
    this.#tasks = plan.tasks.map(() => new TaskFold());
  }

  add(stored: StoredEpisode): void {
    const { episode, task } = stored;
    this.#tasks[task]!.add(stored);
    const { tokens_in, tokens_out } = episode.trace.trajectory.totals;
    this.#wall.add(episode.trace.wall_ms);
    this.#total.add(tokens_in + tokens_out);
    this.#tokens.add(episode);
    if (episode.aux.outcome !== "not-carried-out") this.#durations.add(episode.trace.wall_ms);
    this.#scores.add(episode);
  }

  #count(key: "finished" | "carriedOut" | "passed"): number {
    return this.#tasks.reduce((sum, task) => sum + task[key], 0);
  }

  /** `summary.json`: the reference's keys first, ours beside. */
  summary(model: number, at: Date): Record<string, unknown> {
    const { settings, models, tasks } = this.#plan;
    const finished = this.#tasks
      .map((fold, i) => ({ fold, id: tasks[i]!.id }))
      .filter(({ fold }) => fold.finished > 0);
    return {
      run_name: settings.run_name,
      timestamp_utc: timestamp(at),
      k: settings.k,
      model_name: models[model]!.model,
      attempts: finished.map(({ fold, id }) => {
        const { finished: attempts, carriedOut, passed } = fold;
        const { pass_rate, pass_at_k, pass_hat_k, wall_ms } = fold.result(id, settings.k);
        return {
          task_id: id,
          attempts,
          passed,
          failed: carriedOut - passed,
          success_percentage: percentage(passed, carriedOut),
          not_carried_out: attempts - carriedOut,
          pass_rate,
          pass_at_k,
          pass_hat_k,
          wall_ms,
        };
      }),
      qualitative_scores: this.#scores.means(),
      passed: this.#count("passed"),
      failed: this.#count("carriedOut") - this.#count("passed"),
      not_carried_out: this.#count("finished") - this.#count("carriedOut"),
      pass_rate: wilson(this.#count("passed"), this.#count("carriedOut")),
    };
  }

  /** `summary` of `metrics.json`. */
  metricsSummary(): Record<string, unknown> {
    const finished = this.#count("finished");
    const carriedOut = this.#count("carriedOut");
    const passed = this.#count("passed");
    const wall = this.#wall;
    const tokens = this.#tokens;
    const total = this.#total;
    const qualitative = this.#scores.fields();
    const judging = this.#scores.rubrics();
    return {
      episodes: finished,
      k_attempts: this.#plan.settings.k,
      total_runs: finished,
      passed,
      failed: carriedOut - passed,
      pass_rate: carriedOut === 0 ? 0 : passed / carriedOut,
      time: { total_wall_ms: wall.sum, avg_wall_ms: wall.avg, min_wall_ms: wall.min, max_wall_ms: wall.max },
      tokens: {
        prompt_tokens_total: tokens.in,
        completion_tokens_total: tokens.out,
        total_tokens_total: tokens.in + tokens.out,
        cached_prompt_pct: percentage(tokens.cached, tokens.in),
        avg_total_tokens: total.avg,
        min_total_tokens: total.min,
        max_total_tokens: total.max,
      },
      ...(Object.keys(qualitative).length === 0 ? {} : { qualitative }),
      ...(Object.keys(judging).length === 0 ? {} : { judging }),
      not_carried_out: finished - carriedOut,
      wall_ms: this.#durations.summary(),
    };
  }

  result(model: Pick<ModelResult, "model" | "folder" | "error" | "restarts">): ModelResult {
    const { tasks, settings } = this.#plan;
    const carriedOut = this.#count("carriedOut");
    const passed = this.#count("passed");
    return {
      ...model,
      planned: tasks.length * settings.k,
      carried_out: carriedOut,
      passed,
      failed: carriedOut - passed,
      pass_rate: wilson(passed, carriedOut),
      tokens: this.#tokens.plain,
      wall_ms: this.#durations.summary(),
      tasks: this.#tasks.map((fold, i) => fold.result(tasks[i]!.id, settings.k)),
      qualitative: this.#scores.fields(),
      judging: this.#scores.rubrics(),
    };
  }
}

/** `20261201_064337`, UTC. */
export function timestamp(at: Date): string {
  return at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
}
