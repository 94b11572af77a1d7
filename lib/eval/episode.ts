import type { TaskState } from "../conversation/event.ts";
import type { RubricJudging } from "../judge/score.ts";
import type { Json, ToolCall, Trajectory } from "../trace/trajectory.ts";

/** One event of an attempt's conversation, as kept in the episode (at most 200 of them). */
export interface EpisodeEvent {
  /** Milliseconds since the attempt began. */
  t_ms: number;
  task_status: TaskState;
  content_preview: string;
  /** The turn's text, on the turn's first event only. */
  user_input: string | null;
}

/** One check's answer. `field` is the part of `expected` it decided, or `trace`. */
export interface CheckResult {
  check: string;
  ok: boolean;
  reason: string;
  /** The check itself failed to run; `ok` is false then. */
  error?: boolean;
}

export interface Verdict {
  passed: boolean;
  /** All reasons, joined by `; `. */
  reason: string;
  /** + each check by itself. */
  checks?: CheckResult[];
}

/**
 * How an attempt ended. `carried-out`: the agent was talked to and answered, failed or died while answering; its verdict
 * counts. `not-carried-out`: for a reason outside the agent's answer no conversation took place; counts for nobody.
 */
export type Outcome = "carried-out" | "not-carried-out";

/** An attempt, whole: what `episodes/<task>__try<n>.json` holds. Keys of the reference first, ours beside. */
export interface Episode {
  model_name: string;
  task_id: string;
  expected_outcome: string | null;
  final_status: TaskState;
  final_output: string;
  verdict: Verdict;
  qualitative_scores: Record<string, Json> | null;
  /** + how each score came about, by rubric. */
  judging?: Record<string, RubricJudging>;
  aux: {
    agent_url?: string;
    error?: string;
    attempt_index: number;
    /** + conversation id that was used. */
    context_id?: string;
    /** + how the attempt ended; absent in files of the reference, which means carried out. */
    outcome?: Outcome;
    /** + what went wrong with the stream, in one code. */
    problem?: { code: string; message: string };
    /** + things worth knowing that decide nothing (an answer without text, spans matched by time). */
    notes?: string[];
    [key: string]: unknown;
  };
  trace: {
    events: EpisodeEvent[];
    wall_ms: number;
    tool_calls: ToolCall[];
    trajectory: Trajectory;
    [key: string]: unknown;
  };
}
