import { randomBytes } from "node:crypto";
import type { EpisodeEvent } from "../eval/episode.ts";
import type { AgentClient, AgentEvent, Conversation, ProblemCode, TaskState } from "./event.ts";
import { episodeEvent, finalOutput, finalStatus, MOST_EVENTS } from "./fold.ts";

export interface HoldInput {
  client: AgentClient;
  contextId: string;
  /** The user's texts, sent one after the other. */
  turns: readonly string[];
  /** Longest silence of the agent, in milliseconds. */
  turnTimeoutMs: number;
  attemptTimeoutMs?: number;
  /** Ends the conversation without a result worth keeping. */
  signal: AbortSignal;
  /** Aborted when the agent's process ended; its reason is the Error that says how. */
  agentExited?: AbortSignal;
}

/** A conversation that was held. */
export interface Answer {
  /** The conversation's id as the agent knows it. */
  contextId: string;
  status: TaskState;
  output: string;
  events: EpisodeEvent[];
  wallMs: number;
  /** The trace and span id sent with each turn. */
  sent: { traceId: string; spanId: string }[];
  /** When each turn was held, unix nanoseconds. */
  windows: { from: bigint; to: bigint }[];
  problem: { code: ProblemCode; name: string; message: string } | null;
  /** Whether anything of the agent came at all. */
  answered: boolean;
  /** Things worth knowing that decide nothing. */
  notes: string[];
}

/** How long a stream may be silent after its final state before it is taken as ended, in milliseconds. */
const GRACE_MS = 2_000;
/** How long the news of a dead process may take after its connection was cut, in milliseconds. */
const EXIT_NEWS_MS = 500;
/** Events of one turn that are looked at; an endless stream must end somewhere. */
const MOST_TURN_EVENTS = 1_000_000;

/** Holds a conversation: sends the turns, each after the answer to the one before, until the last or a failure. */
export async function holdConversation(input: HoldInput): Promise<Answer> {
  const started = performance.now();
  const conversation = input.client.converse(input.contextId);
  const answer: Answer = {
    contextId: input.contextId,
    status: "error",
    output: "",
    events: [],
    wallMs: 0,
    sent: [],
    windows: [],
    problem: null,
    answered: false,
    notes: [],
  };
  using limits = new Limits(input);
  for (const text of input.turns) {
    const turn = await holdTurn(conversation, text, input, limits, answer, started);
    answer.status = turn.status;
    answer.output = turn.output;
    if (answer.problem !== null || input.signal.aborted) break;
  }
  answer.wallMs = performance.now() - started;
  answer.contextId = conversation.contextId ?? input.contextId;
  if (answer.contextId !== input.contextId)
    answer.notes.push(`The agent calls the conversation "${answer.contextId}"`);
  await conversation.close();
  return answer;
}

/** Ends a turn that takes too long, and one whose agent is gone; leaves no timer and no listener behind. */
class Limits implements Disposable {
  readonly #input: HoldInput;
  readonly #controller = new AbortController();
  readonly #attempt: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Why the conversation was ended from here. */
  reached: { code: ProblemCode; name: string; message: string } | "grace" | null = null;

  constructor(input: HoldInput) {
    this.#input = input;
    input.signal.addEventListener("abort", this.#stop);
    input.agentExited?.addEventListener("abort", this.#exited);
    const { attemptTimeoutMs } = input;
    if (attemptTimeoutMs !== undefined) {
      const message = `The attempt took longer than ${attemptTimeoutMs / 1000} s (evaluation.attempt_timeout_s)`;
      this.#attempt = setTimeout(
        () => this.#end({ code: "timeout", name: "AttemptTimeout", message }),
        attemptTimeoutMs,
      );
    }
    if (input.signal.aborted) this.#stop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the silence timer anew; after the final state only a short while is waited. */
  restart(final: boolean): void {
    clearTimeout(this.#idle);
    const { turnTimeoutMs } = this.#input;
    const message = `No event for ${turnTimeoutMs / 1000} s (evaluation.turn_timeout_s)`;
    this.#idle = final
      ? setTimeout(() => this.#end("grace"), Math.min(GRACE_MS, turnTimeoutMs))
      : setTimeout(() => this.#end({ code: "idle", name: "TurnTimeout", message }), turnTimeoutMs);
  }

  pause(): void {
    clearTimeout(this.#idle);
  }

  #end(reached: NonNullable<Limits["reached"]>): void {
    this.reached ??= reached;
    this.#controller.abort();
  }

  readonly #stop = () => this.#end({ code: "canceled", name: "Canceled", message: "The run was stopped" });

  readonly #exited = () => {
    // What the dead process still wrote is on its way: the stream's own end is given a moment to come first.
    setTimeout(() => this.#end(exitProblem(this.#input.agentExited!)), EXIT_NEWS_MS).unref();
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#attempt);
    this.#input.signal.removeEventListener("abort", this.#stop);
    this.#input.agentExited?.removeEventListener("abort", this.#exited);
  }
}

function exitProblem(exited: AbortSignal): { code: ProblemCode; name: string; message: string } {
  return { code: "agent-exited", name: "AgentExited", message: (exited.reason as Error).message };
}

async function holdTurn(
  conversation: Conversation,
  text: string,
  input: HoldInput,
  limits: Limits,
  answer: Answer,
  started: number,
): Promise<{ status: TaskState; output: string }> {
  const ids = { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
  const traceparent = `00-${ids.traceId}-${ids.spanId}-01`;
  const from = nowNanoseconds();
  const events: AgentEvent[] = [];
  let userInput: string | null = text;
  answer.sent.push(ids);
  limits.restart(false);
  for await (const event of conversation.send({ text, traceparent }, { signal: limits.signal })) {
    if (event.kind === "problem") {
      await noteProblem(event, events, input, answer);
      break;
    }
    answer.answered = true;
    events.push(event);
    const kept = episodeEvent(event, performance.now() - started, userInput);
    userInput = null;
    if (kept !== null && answer.events.length < MOST_EVENTS) answer.events.push(kept);
    limits.restart(isFinal(events, event));
    if (events.length >= MOST_TURN_EVENTS) {
      answer.problem = {
        code: "oversized",
        name: "EndlessStream",
        message: `More than ${MOST_TURN_EVENTS} events in one turn`,
      };
      break;
    }
  }
  limits.pause();
  answer.windows.push({ from, to: nowNanoseconds() });
  if (limits.reached === "grace") {
    answer.notes.push("The stream was not closed after its final state");
    limits.reached = null;
  } else if (limits.reached !== null) {
    answer.problem ??= limits.reached;
  }
  return outcome(events, answer);
}

function isFinal(events: readonly AgentEvent[], event: AgentEvent): boolean {
  if (event.kind === "status") return event.state !== "working";
  return events.some((earlier) => earlier.kind === "status" && earlier.state !== "working");
}

/** A failure after the final state changes nothing; one that the agent's death explains is told as that. */
async function noteProblem(
  event: Extract<AgentEvent, { kind: "problem" }>,
  events: readonly AgentEvent[],
  input: HoldInput,
  answer: Answer,
): Promise<void> {
  const final = events.some((earlier) => earlier.kind === "status" && earlier.state !== "working");
  const { code, name, message } = event;
  if (final) {
    answer.notes.push(`After the final state: ${name}: ${message}`);
    return;
  }
  const exited = input.agentExited;
  const broken = code === "transport" || code === "ended-early";
  if (exited !== undefined && broken && (await isAborted(exited, EXIT_NEWS_MS))) {
    // A connection that was refused never reached the process that is gone.
    if (event.refused !== true) {
      answer.problem = exitProblem(exited);
      return;
    }
  }
  answer.problem = { code, name, message };
}

function outcome(events: readonly AgentEvent[], answer: Answer): { status: TaskState; output: string } {
  const { problem } = answer;
  const status = finalStatus(events);
  if (problem?.code === "ended-early" && status !== null) {
    answer.notes.push(`${problem.message}; the last one told is "${status}"`);
    return { status, output: finalOutput(events) };
  }
  if (problem !== null || status === null) {
    answer.problem ??= {
      code: "ended-early",
      name: "EndedEarly",
      message: "The answer ended without any event",
    };
    return { status: "error", output: `${answer.problem.name}: ${answer.problem.message}` };
  }
  const output = finalOutput(events);
  if (status === "completed" && output === "") answer.notes.push("Completed without any text");
  return { status, output };
}

function isAborted(signal: AbortSignal, withinMs: number): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", done);
      resolve(false);
    }, withinMs);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Unix time in nanoseconds, as exact as the clock of the process is. */
function nowNanoseconds(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
