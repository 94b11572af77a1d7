import { randomBytes } from "node:crypto";
import type { EpisodeEvent } from "../eval/episode.ts";
import type { AgentClient, AgentEvent, Conversation, ProblemCode, TaskState } from "./event.ts";
import { AnswerFold, episodeEvent, MOST_EVENTS } from "./fold.ts";
import { EXIT_NEWS_MS, exitEnding, isAborted, Limits } from "./limits.ts";

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

/** Events of one turn that are looked at; an endless stream must end somewhere. */
const MOST_TURN_EVENTS = 1_000_000;
/** UTF-16 units of text that one answer may have, and that the kept events of an attempt may have in all. */
const LARGEST_TEXT = 64 * 1024 * 1024;

/** Holds a conversation: sends the turns, each after the answer to the one before, until the last or a failure. */
export async function holdConversation(input: HoldInput): Promise<Answer> {
  const holding = new Holding(input);
  using limits = new Limits(input);
  for (const text of input.turns) {
    await holding.turn(text, limits);
    if (holding.answer.problem !== null || input.signal.aborted) break;
  }
  return await holding.end();
}

class Holding {
  readonly answer: Answer;
  readonly #input: HoldInput;
  readonly #conversation: Conversation;
  readonly #started = performance.now();
  #keptText = 0;

  constructor(input: HoldInput) {
    this.#input = input;
    this.#conversation = input.client.converse(input.contextId);
    this.answer = {
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
  }

  async turn(text: string, limits: Limits): Promise<void> {
    const { answer } = this;
    const asked = answer.status === "input-required";
    const ids = { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
    const traceparent = `00-${ids.traceId}-${ids.spanId}-01`;
    const from = nowNanoseconds();
    const fold = new AnswerFold();
    let count = 0;
    // A task that goes on may first be told as it stood: asking what has just been answered.
    const settled = () => fold.settled && !(asked && count === 1 && fold.status === "input-required");
    answer.sent.push(ids);
    const signal = limits.startTurn();
    for await (const event of this.#conversation.send({ text, traceparent }, { signal })) {
      if (event.kind === "problem") {
        await this.#noteProblem(event, settled());
        break;
      }
      count += 1;
      answer.answered = true;
      fold.add(event);
      this.#keep(event, count === 1 ? text : null);
      limits.heard(settled());
      answer.problem = excess(count, fold);
      if (answer.problem !== null) break;
    }
    limits.endTurn();
    answer.windows.push({ from, to: nowNanoseconds() });
    if (limits.lingered) answer.notes.push("The stream was not closed after its final state");
    else answer.problem ??= limits.reached;
    this.#conclude(fold);
  }

  async end(): Promise<Answer> {
    const { answer } = this;
    answer.wallMs = performance.now() - this.#started;
    answer.contextId = this.#conversation.contextId ?? this.#input.contextId;
    if (answer.contextId !== this.#input.contextId)
      answer.notes.push(`The agent calls the conversation "${answer.contextId}"`);
    await this.#conversation.close();
    return answer;
  }

  #keep(event: AgentEvent, userInput: string | null): void {
    const { events } = this.answer;
    const kept = episodeEvent(event, performance.now() - this.#started, userInput);
    if (kept === null || events.length >= MOST_EVENTS || this.#keptText > LARGEST_TEXT) return;
    this.#keptText += kept.content_preview.length;
    events.push(kept);
  }

  /** A failure after the final state changes nothing; one that the agent's death explains is told as that. */
  async #noteProblem(event: Extract<AgentEvent, { kind: "problem" }>, settled: boolean): Promise<void> {
    const { answer } = this;
    const { code, name, message } = event;
    if (settled) {
      answer.notes.push(`After the final state: ${name}: ${message}`);
      return;
    }
    answer.problem = { code, name, message };
    const exited = this.#input.agentExited;
    // A connection that was refused never reached the process that is gone.
    const broken = (code === "transport" || code === "ended-early") && event.refused !== true;
    if (exited !== undefined && broken && (await isAborted(exited, EXIT_NEWS_MS)))
      answer.problem = exitEnding(exited);
  }

  #conclude(fold: AnswerFold): void {
    const { answer } = this;
    const { status } = fold;
    if (answer.problem?.code === "ended-early" && status !== null) {
      answer.notes.push(`${answer.problem.message}; the last one told is "${status}"`);
      // All that such an agent has to say is there, so the conversation can go on.
      if (status === "completed") answer.problem = null;
    } else if (status === null) {
      answer.problem ??= {
        code: "ended-early",
        name: "EndedEarly",
        message: "The answer ended without any event",
      };
    }
    if (status === null || (answer.problem !== null && answer.problem.code !== "ended-early")) {
      answer.status = "error";
      answer.output = `${answer.problem!.name}: ${answer.problem!.message}`;
      return;
    }
    answer.status = status;
    answer.output = fold.output;
    if (status === "completed" && answer.output === "") answer.notes.push("Completed without any text");
  }
}

function excess(count: number, fold: AnswerFold): Answer["problem"] {
  if (count >= MOST_TURN_EVENTS)
    return {
      code: "oversized",
      name: "EndlessStream",
      message: `More than ${MOST_TURN_EVENTS} events in one turn`,
    };
  if (fold.size > LARGEST_TEXT)
    return {
      code: "oversized",
      name: "OversizedAnswer",
      message: `The answer to one turn is longer than ${LARGEST_TEXT} characters`,
    };
  return null;
}

/** Unix time in nanoseconds, as exact as the clock of the process is. */
function nowNanoseconds(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
