import type { IncomingMessage } from "node:http";
import type { AgentEvent, ProblemCode } from "../event.ts";
import { decodeResult } from "./decode.ts";
import { chunksOf, readBody, TransportError } from "./http.ts";
import { LARGEST_EVENT_BYTES, OversizedEvent, serverSentEvents } from "./sse.ts";

/** An error that the server told in JSON-RPC's words or those of HTTP. */
export interface ServerError {
  /** JSON-RPC's and A2A's code, or the HTTP status where that has no such code. */
  code: number;
  message: string;
  /** What came was no error of A2A but a bare HTTP status. */
  http?: true;
}

/** What comes back of one request, piece by piece. */
export type Reply =
  | { kind: "events"; events: AgentEvent[]; contextId: string | null }
  /** The server refused or failed: the caller may know another way to ask. */
  | { kind: "error"; error: ServerError }
  | { kind: "problem"; problem: Extract<AgentEvent, { kind: "problem" }> };

const LARGEST_ERROR_BYTES = 64 * 1024;

/** JSON-RPC's and A2A's code for what HTTP says with a status, for the binding without JSON-RPC. */
const CODE_OF_STATUS: Readonly<Record<number, number>> = { 404: -32601, 405: -32601, 501: -32004 };

/** Whether an answer is a stream of events. */
export function isStream(answer: IncomingMessage): boolean {
  return answer.headers["content-type"]?.toLowerCase().includes("text/event-stream") === true;
}

export function problem(
  code: ProblemCode,
  name: string,
  message: string,
): Extract<AgentEvent, { kind: "problem" }> {
  return { kind: "problem", code, name, message };
}

/**
 * Reads an answer: a stream of events or a single result, in either binding. Everything that is not A2A ends it with a
 * problem that says what came instead.
 */
export async function* readReply(
  answer: IncomingMessage,
  binding: "JSONRPC" | "HTTP+JSON",
): AsyncGenerator<Reply> {
  const status = answer.statusCode ?? 0;
  try {
    if (status < 200 || status > 299) {
      yield* readFailure(answer, status);
    } else if (isStream(answer)) {
      for await (const data of serverSentEvents(chunksOf(answer))) {
        // Some keep the connection alive with events that hold nothing.
        if (data.trim() === "") continue;
        const reply = readPayload(data, binding);
        yield reply;
        if (reply.kind !== "events") return;
      }
    } else {
      const { text, whole } = await readBody(answer, LARGEST_EVENT_BYTES);
      if (whole) yield readPayload(text, binding);
      else
        yield {
          kind: "problem",
          problem: problem(
            "oversized",
            "OversizedEvent",
            `The answer is larger than ${LARGEST_EVENT_BYTES} bytes`,
          ),
        };
    }
  } catch (error) {
    if (error instanceof OversizedEvent)
      yield { kind: "problem", problem: problem("oversized", error.name, error.message) };
    else if (error instanceof TransportError)
      yield { kind: "problem", problem: problem("transport", error.name, error.message) };
    else throw error;
  }
}

async function* readFailure(answer: IncomingMessage, status: number): AsyncGenerator<Reply> {
  const { text } = await readBody(answer, LARGEST_ERROR_BYTES);
  const value = parse(text);
  const told = errorIn(value) ?? bareError(value);
  if (told !== null) {
    yield { kind: "error", error: { code: CODE_OF_STATUS[told.code] ?? told.code, message: told.message } };
    return;
  }
  const snippet = text.replace(/\s+/g, " ").trim().slice(0, 200);
  const message = `HTTP ${status}${answer.statusMessage ? ` ${answer.statusMessage}` : ""}${snippet === "" ? "" : `: ${snippet}`}`;
  yield { kind: "error", error: { code: CODE_OF_STATUS[status] ?? status, message, http: true } };
}

function readPayload(text: string, binding: "JSONRPC" | "HTTP+JSON"): Reply {
  const value = parse(text);
  if (value === undefined) {
    return {
      kind: "problem",
      problem: problem("protocol", "InvalidEvent", `Expected JSON from the agent, received ${show(text)}`),
    };
  }
  const error = errorIn(value);
  if (error !== null) return { kind: "error", error };
  const rpc = typeof value === "object" && value !== null && "result" in value;
  const decoded = decodeResult(rpc && binding === "JSONRPC" ? (value as { result: unknown }).result : value);
  if (decoded !== null) return { kind: "events", ...decoded };
  const bare = bareError(value);
  if (bare !== null) return { kind: "error", error: bare };
  return {
    kind: "problem",
    problem: problem("protocol", "UnknownEvent", `Expected an event of A2A, received ${show(text)}`),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `{error: {code, message}}`, as JSON-RPC and as the HTTP binding write it. */
function errorIn(value: unknown): ServerError | null {
  if (typeof value !== "object" || value === null) return null;
  const { error } = value as { error?: unknown };
  if (typeof error !== "object" || error === null) return null;
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  const details = typeof data === "string" ? data : data == null ? "" : JSON.stringify(data);
  const more = details === "" ? "" : ` (${details.slice(0, 500)})`;
  return {
    code: typeof code === "number" ? code : 0,
    message: `${typeof message === "string" ? message : "no message"}${more}`,
  };
}

/** `{code, message}` alone, as version 0.3 tells errors over HTTP+JSON. */
function bareError(value: unknown): ServerError | null {
  if (typeof value !== "object" || value === null) return null;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return typeof code === "number" && typeof message === "string" ? errorIn({ error: value }) : null;
}

function show(text: string): string {
  const short = text.replace(/\s+/g, " ").trim();
  return short === "" ? "nothing" : JSON.stringify(short.length > 120 ? `${short.slice(0, 117)}...` : short);
}
