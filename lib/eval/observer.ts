import type { CalibratedRate } from "../judge/calibration.ts";
import type { Outcome } from "./episode.ts";

/** A rate with its 95 % Wilson interval, both in 0…1. */
export interface Rate {
  value: number;
  low: number;
  high: number;
}

/** What came out for one task with one model. Attempts that were not carried out count in `planned` only. */
export interface TaskResult {
  task_id: string;
  planned: number;
  carried_out: number;
  passed: number;
  failed: number;
  /** Null when nothing was carried out. */
  pass_rate: Rate | null;
  /** Unbiased estimates for k = 1 … number of attempts: `{"1": 0.5, "2": 0.83}`. */
  pass_at_k: Record<string, number>;
  pass_hat_k: Record<string, number>;
  tokens: { in: number; out: number; cached: number };
  /** Milliseconds. */
  wall_ms: { p50: number; p95: number; total: number } | null;
  /** Failures and attempts not carried out, the first 20. */
  failures: { attempt: number; outcome: Outcome; reason: string; episode: string }[];
}

/** How the scores by one rubric came about, over a model's episodes. */
export interface RubricResult {
  /** The score's field. */
  field: string;
  /** Questions that were put, and answers that were known already. */
  asked: number;
  known: number;
  tokens: { in: number; out: number };
  /** US dollars; null where a price is not known. */
  cost_usd: number | null;
  /** Episodes that it applies to and that have no score, and why the first has none. */
  missing: { count: number; reason: string } | null;
  /** Mean over the episodes of largest less smallest score, of the judges and of a judge's repeats. */
  disagreement: number | null;
  self_disagreement: number | null;
  /** Null without a calibration of this rubric. */
  calibrated: CalibratedRate | null;
}

export interface ModelResult {
  /** `provider:model`. */
  model: string;
  /** Folder of its artifacts, relative to the run's. */
  folder: string;
  planned: number;
  carried_out: number;
  passed: number;
  failed: number;
  pass_rate: Rate | null;
  tokens: { in: number; out: number; cached: number };
  wall_ms: { p50: number; p95: number; total: number } | null;
  /** Why the model could not be evaluated; null when it was. */
  error: string | null;
  restarts: number;
  tasks: TaskResult[];
  /** The judge's scores by field, over the episodes that have one. */
  qualitative: Record<string, { avg: number; min: number; max: number; count: number }>;
  /** By rubric. */
  judging: Record<string, RubricResult>;
}

/** The end of a run: what `--json` prints and the table shows. */
export interface RunResult {
  run: string;
  directory: string;
  state: "complete" | "incomplete" | "stopped";
  /** Why it is not complete: a budget, an interrupt, a model that failed, totals that do not balance. */
  problems: string[];
  planned: number;
  carried_out: number;
  passed: number;
  failed: number;
  models: ModelResult[];
  /** Milliseconds of this process. */
  elapsed_ms: number;
  exit_code: number;
}

export interface AttemptId {
  model: string;
  task: string;
  /** From 0. */
  attempt: number;
}

/** What a run tells while it goes on. Calls never throw and never wait. */
export interface RunObserver {
  runStarted(run: {
    run: string;
    directory: string;
    agent: string;
    models: readonly string[];
    tasks: number;
    k: number;
    planned: number;
    /** Attempts that an earlier process already finished. */
    done: number;
    concurrency: number;
  }): void;
  modelStarted(model: { model: string; planned: number; done: number; log: string }): void;
  modelReady(model: { model: string; url: string; start_ms: number }): void;
  modelFailed(model: { model: string; message: string; log: string | null }): void;
  attemptStarted(attempt: AttemptId): void;
  /** `done` counts finished attempts of the whole run. */
  attemptFinished(
    attempt: AttemptId & {
      outcome: Outcome;
      passed: boolean;
      reason: string;
      wall_ms: number;
      tokens: number;
      episode: string;
      done: number;
      planned: number;
    },
  ): void;
  /** A model's attempts have ended and its judge is still at work on so many episodes. */
  judging(left: { model: string; waiting: number }): void;
  /** After an episode was judged; `waiting` episodes of the model are still to be judged. */
  judged(judged: { model: string; waiting: number }): void;
  agentRestarted(restart: { model: string; exit: string; restarts: number; limit: number }): void;
  warning(message: string): void;
  runFinished(result: RunResult): void;
}
