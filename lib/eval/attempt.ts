import type { Answer } from "../conversation/hold.ts";
import type { ConversationQuery, SpanIndex } from "../trace/span-index.ts";
import { totalsOf } from "../trace/steps.ts";
import { waitForSpans } from "../trace/wait-for-spans.ts";
import type { Episode, Outcome, Verdict } from "./episode.ts";
import type { TaskSpec } from "./tasks.ts";

/** What one attempt is about, as its episode names it. */
export interface AttemptSubject {
  /** `provider:model`. */
  model: string;
  task: TaskSpec;
  /** From 0. */
  attempt: number;
  contextId: string;
  agentUrl: string;
}

/** How long the last root span is waited for, in milliseconds. */
const SPANS_TIMEOUT_MS = 2_000;
/** The same, once an agent has shown that it writes no spans at all. */
const NO_SPANS_TIMEOUT_MS = 100;
const ENOUGH_TO_KNOW = 3;

/** Waits for a conversation's spans; learns when an agent writes none, so that a run does not wait for each attempt. */
export class SpanWait {
  readonly #index: SpanIndex;
  #inVain = 0;

  constructor(index: SpanIndex) {
    this.#index = index;
  }

  /** Not ended by Ctrl-C: a verdict on half of the spans would be wrong, and the time is short. */
  async wait(query: ConversationQuery): Promise<void> {
    const { signal } = new AbortController();
    const silent = this.#inVain >= ENOUGH_TO_KNOW && this.#index.stats.spans === 0;
    const timeoutMs = silent ? NO_SPANS_TIMEOUT_MS : SPANS_TIMEOUT_MS;
    if (!(await waitForSpans(this.#index, query, { timeoutMs, signal }))) this.#inVain += 1;
  }
}

/** The spans that belong to an answer. `alone`: no other conversation ran beside it, so time may tell whose they are. */
export function spansQuery(subject: AttemptSubject, answer: Answer, alone: boolean): ConversationQuery {
  return {
    conversation: answer.contextId,
    turns: subject.task.turns.slice(0, answer.sent.length),
    sent: answer.sent,
    ...(alone ? { windows: answer.windows } : {}),
  };
}

/** The episode of an attempt whose conversation took place. */
export function episodeOf(
  subject: AttemptSubject,
  answer: Answer,
  trace: ReturnType<SpanIndex["trajectory"]>,
  verdict: Verdict,
): Episode {
  const notes = [...answer.notes, ...trace.notes];
  return {
    model_name: subject.model,
    task_id: subject.task.id,
    expected_outcome: subject.task.expected.expected_outcome ?? null,
    final_status: answer.status,
    final_output: answer.output,
    verdict,
    qualitative_scores: null,
    aux: {
      agent_url: subject.agentUrl,
      attempt_index: subject.attempt,
      context_id: subject.contextId,
      outcome: "carried-out" satisfies Outcome,
      ...(answer.problem === null
        ? {}
        : { problem: { code: answer.problem.code, message: answer.problem.message } }),
      ...(notes.length === 0 ? {} : { notes }),
    },
    trace: {
      events: answer.events,
      wall_ms: answer.wallMs,
      tool_calls: trace.toolCalls,
      trajectory: trace.trajectory,
    },
  };
}

/** The episode of an attempt that could not be carried out, in the form the reference gives to its own errors. */
export function episodeNotCarriedOut(
  subject: Omit<AttemptSubject, "agentUrl" | "contextId">,
  message: string,
): Episode {
  return {
    model_name: subject.model,
    task_id: subject.task.id,
    expected_outcome: subject.task.expected.expected_outcome ?? null,
    final_status: "error",
    final_output: `<eval error: ${message}>`,
    verdict: { passed: false, reason: `eval error: ${message}` },
    qualitative_scores: null,
    aux: { error: message, attempt_index: subject.attempt, outcome: "not-carried-out" satisfies Outcome },
    trace: {
      events: [],
      wall_ms: 0,
      tool_calls: [],
      trajectory: { found: false, turns: [], totals: totalsOf([]), truncated: false },
    },
  };
}
