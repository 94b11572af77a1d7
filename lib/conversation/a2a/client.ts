import { setTimeout } from "node:timers/promises";
import type {
  AgentClient,
  AgentEvent,
  AgentTarget,
  Conversation,
  OutgoingTurn,
  SendOptions,
} from "../event.ts";
import { AnswerState } from "./answer-state.ts";
import { type A2aVersion, type AgentInterface, findInterface } from "./card.ts";
import { isStream, problem, type Reply, readReply, type ServerError } from "./exchange.ts";
import { HttpConnections, TransportError } from "./http.ts";
import { type Operation, wireRequest } from "./requests.ts";

// JSON-RPC 2.0 and A2A error codes: https://a2a-protocol.org/latest/specification/#54-error-code-mappings
const METHOD_NOT_FOUND = -32601;
const VERSION_NOT_SUPPORTED = -32009;
const UNSUPPORTED_OPERATION = -32004;
/** The ways in which servers refuse the id of a task that is over, HTTP's among them. */
const TASK_REFUSED = new Set([
  ...[UNSUPPORTED_OPERATION, METHOD_NOT_FOUND, -32001, -32600, -32602, -32603],
  ...[400, 409, 410, 422, 500],
]);
/** Ways to ask that there are at most: both versions, with and without stream, with and without the task. */
const MOST_WAYS = 5;

const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 1_000;

/** What was learned of an agent and holds for all its conversations. */
interface Learned {
  version: A2aVersion;
  /** Whether the other version was tried and is not to be tried again. */
  settled: boolean;
  streaming: boolean;
  url: string;
  /** Whether it has ever answered as it was asked. */
  answered: boolean;
}

/** The way in which a request was made. */
type Way = Pick<Learned, "version" | "streaming">;

/** Connects to an A2A agent. Throws BatError (code `agent`) when its card cannot be had or used. */
export async function connectA2a(target: AgentTarget, signal: AbortSignal): Promise<AgentClient> {
  const http = new HttpConnections();
  try {
    const to = await findInterface(http, target.url, signal, target.protocolVersion);
    return new A2aClient(http, to, target.protocolVersion !== undefined);
  } catch (error) {
    http.close();
    throw error;
  }
}

class A2aClient implements AgentClient {
  readonly name: string;
  readonly #http: HttpConnections;
  readonly #to: AgentInterface;
  readonly #learned: Learned;

  constructor(http: HttpConnections, to: AgentInterface, forced: boolean) {
    this.name = to.name;
    this.#http = http;
    this.#to = to;
    const { version, streaming, urls } = to;
    this.#learned = { version, settled: forced, streaming, url: urls[0]!, answered: false };
  }

  get facts(): Readonly<Record<string, string | number | boolean>> {
    const { version, streaming, url } = this.#learned;
    return {
      protocol: "a2a",
      version,
      stated_version: this.#to.statedVersion,
      binding: this.#to.binding,
      streaming,
      url,
    };
  }

  converse(contextId: string): Conversation {
    return new A2aConversation(this.#http, this.#to, this.#learned, contextId);
  }

  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }
}

class A2aConversation implements Conversation {
  readonly #http: HttpConnections;
  readonly #to: AgentInterface;
  readonly #learned: Learned;
  /** As we named it, until the server gives it a name of its own. */
  #contextId: string;
  /** A task that asked for input and goes on with the next turn. */
  #openTask: string | null = null;
  /** Whether the answer to the turn comes as a stream, whatever was asked for. */
  #streamed = false;

  constructor(http: HttpConnections, to: AgentInterface, learned: Learned, contextId: string) {
    this.#http = http;
    this.#to = to;
    this.#learned = learned;
    this.#contextId = contextId;
  }

  get contextId(): string {
    return this.#contextId;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *send(turn: OutgoingTurn, { signal }: SendOptions): AsyncGenerator<AgentEvent> {
    const answer = new AnswerState();
    try {
      for await (const event of this.#answer(turn, signal)) {
        // What an ended conversation still brings is the end itself, no fault of the agent.
        if (signal.aborted) return;
        answer.note(event);
        yield event;
        if (event.kind === "problem") return;
      }
      if (!answer.ended) yield* this.#afterEarlyEnd(turn, answer, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TransportError)) throw error;
      const { name, message, refused } = error;
      yield { ...problem("transport", name, message), beforeFirstEvent: !answer.begun, refused };
    } finally {
      this.#openTask = answer.state === "input-required" ? answer.askingTask : null;
    }
  }

  /** Asks in the way that this agent is known to take; where it refuses, in the other ways there are, once each. */
  async *#answer(turn: OutgoingTurn, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    let taskId = this.#openTask;
    for (let tries = 0; ; tries += 1) {
      const { version, streaming } = this.#learned;
      const kind = streaming ? "stream" : "send";
      const operation: Operation = { kind, text: turn.text, contextId: this.#contextId, taskId };
      let begun = false;
      let refusal: ServerError | null = null;
      for await (const reply of this.#exchange(operation, version, turn.traceparent, signal)) {
        if (reply.kind === "error" && !begun && tries < MOST_WAYS) {
          refusal = reply.error;
          break;
        }
        begun = true;
        if (reply.kind === "events") this.#learned.answered = true;
        if (reply.kind === "events" && reply.contextId !== null && reply.contextId !== "")
          this.#contextId = reply.contextId;
        yield* eventsOf(reply);
      }
      if (refusal === null) return;
      if (this.#otherWay(refusal, taskId !== null, { version, streaming })) continue;
      if (taskId === null || !TASK_REFUSED.has(refusal.code)) {
        yield serverProblem(refusal);
        return;
      }
      taskId = null;
    }
  }

  /** Learns from a refusal; says whether there is another way to ask than the one that was refused. */
  #otherWay({ code }: ServerError, withTask: boolean, asked: Way): boolean {
    const learned = this.#learned;
    // Another conversation has learned it meanwhile.
    if (learned.version !== asked.version || learned.streaming !== asked.streaming) return true;
    // What has answered so before does not mind the way but the task.
    if (withTask && learned.answered) return false;
    if ((code === METHOD_NOT_FOUND || code === VERSION_NOT_SUPPORTED) && !learned.settled) {
      learned.settled = true;
      learned.version = learned.version === "1.0" ? "0.3" : "1.0";
      return true;
    }
    const noStream = code === METHOD_NOT_FOUND || (code === UNSUPPORTED_OPERATION && !withTask);
    if (noStream && learned.streaming) {
      learned.streaming = false;
      // The methods of the version that the card states are the better bet again.
      if (code === METHOD_NOT_FOUND) learned.version = this.#to.version;
      return true;
    }
    return false;
  }

  async *#exchange(
    operation: Operation,
    version: A2aVersion,
    traceparent: string,
    signal: AbortSignal,
  ): AsyncGenerator<Reply> {
    const headers: Record<string, string> = {
      accept: operation.kind === "stream" ? "text/event-stream, application/json" : "application/json",
      "A2A-Version": version,
      traceparent,
    };
    for (;;) {
      const { url } = this.#learned;
      const { method, body, url: target } = wireRequest(operation, this.#to, version, url);
      if (body !== undefined) headers["content-type"] = "application/json";
      try {
        const request = { method, headers, signal, ...(body === undefined ? {} : { body }) };
        const answer = await this.#http.send(target, request);
        if (operation.kind !== "get") this.#streamed = isStream(answer);
        yield* readReply(answer, this.#to.binding);
        return;
      } catch (error) {
        const next = this.#to.urls[this.#to.urls.indexOf(url) + 1];
        if (!(error instanceof TransportError) || !error.refused || next === undefined) throw error;
        this.#learned.url = next;
      }
    }
  }

  /** An answer that ended without saying how: a task still at work is followed, else its state is asked for once. */
  async *#afterEarlyEnd(
    turn: OutgoingTurn,
    answer: AnswerState,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    if (!answer.begun) {
      yield problem("ended-early", "EndedEarly", "The answer ended without any event");
      return;
    }
    if (answer.taskId === null) return;
    const polling = !this.#streamed;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LAST_POLL_MS)) {
      const events = await this.#askForTask(answer.taskId, turn.traceparent, signal);
      const last = events.findLast((event) => event.kind === "status");
      const settled = last !== undefined && last.state !== "working";
      if (settled) yield* events;
      if (settled || signal.aborted) return;
      if (!polling || events.length === 0) break;
      await setTimeout(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
    yield problem("ended-early", "EndedEarly", "The stream ended without a final state");
  }

  async #askForTask(taskId: string, traceparent: string, signal: AbortSignal): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    try {
      const { version } = this.#learned;
      for await (const reply of this.#exchange({ kind: "get", taskId }, version, traceparent, signal)) {
        if (reply.kind === "events") events.push(...reply.events);
      }
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
    }
    return events;
  }
}

function* eventsOf(reply: Reply): Generator<AgentEvent> {
  if (reply.kind === "events") yield* reply.events;
  else yield reply.kind === "error" ? serverProblem(reply.error) : reply.problem;
}

function serverProblem({ code, message, http }: ServerError): AgentEvent {
  const uuid = /uuid/i.test(message)
    ? "; if this server takes only UUIDs as context ids, set agent.context_id: uuid"
    : "";
  if (http === true) return problem("protocol", "HttpError", `${message}${uuid}`);
  return problem("protocol", "A2AError", `The agent answered with error ${code}: ${message}${uuid}`);
}
