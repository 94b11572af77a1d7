import { randomUUID } from "node:crypto";
import type { A2aVersion, AgentInterface } from "./card.ts";

interface Turn {
  kind: "stream" | "send";
  text: string;
  contextId: string;
  taskId: string | null;
}

/** What is asked of an agent. */
export type Operation = Turn | { kind: "get"; taskId: string };

/** A request as it goes out. */
export interface WireRequest {
  method: "GET" | "POST";
  url: string;
  body?: string;
}

const METHODS: Readonly<Record<A2aVersion, Record<Operation["kind"], string>>> = {
  "1.0": { stream: "SendStreamingMessage", send: "SendMessage", get: "GetTask" },
  "0.3": { stream: "message/stream", send: "message/send", get: "tasks/get" },
};

/** Puts an operation into the words of a version and binding. */
export function wireRequest(
  operation: Operation,
  to: AgentInterface,
  version: A2aVersion,
  url: string,
): WireRequest {
  return to.binding === "JSONRPC"
    ? jsonRpc(operation, version, url, to.tenant)
    : rest(operation, version, url, to.tenant);
}

function jsonRpc(operation: Operation, version: A2aVersion, url: string, tenant: string | null): WireRequest {
  const params = { ...paramsOf(operation, version), ...(tenant === null ? {} : { tenant }) };
  const body = { jsonrpc: "2.0", id: randomUUID(), method: METHODS[version][operation.kind], params };
  return { method: "POST", url, body: JSON.stringify(body) };
}

/** How messages are written. Over HTTP+JSON version 0.3 is the JSON of its protocol buffers, which 1.0 is everywhere. */
type Shape = "1.0" | "0.3" | "0.3 REST";

function paramsOf(operation: Operation, shape: Shape): Record<string, unknown> {
  if (!("text" in operation)) return { id: operation.taskId };
  const message = messageOf(operation, shape);
  if (operation.kind === "stream") return { message };
  // An answer without stream is best had whole; servers that cannot wait answer with what they have.
  return { message, configuration: shape === "1.0" ? { returnImmediately: false } : { blocking: true } };
}

function messageOf({ text, contextId, taskId }: Turn, shape: Shape): Record<string, unknown> {
  const ids = { messageId: randomUUID(), contextId, ...(taskId === null ? {} : { taskId }) };
  switch (shape) {
    case "1.0":
      return { ...ids, role: "ROLE_USER", parts: [{ text }] };
    case "0.3":
      return { kind: "message", ...ids, role: "user", parts: [{ kind: "text", text }] };
    case "0.3 REST":
      return { ...ids, role: "ROLE_USER", content: [{ text }] };
  }
}

const REST_PATHS: Readonly<Record<Operation["kind"], (id: string) => string>> = {
  stream: () => "/message:stream",
  send: () => "/message:send",
  // An id with half a character in it cannot be put into an address as it is.
  get: (id) => `/tasks/${encodeURIComponent(id.toWellFormed())}`,
};

function rest(operation: Operation, version: A2aVersion, url: string, tenant: string | null): WireRequest {
  // A card may give the address of the stream itself, or the version's path with it.
  const base = url.replace(/\/+$/, "").replace(/\/message:(stream|send)$/, "");
  const prefix =
    version === "0.3"
      ? base.endsWith("/v1")
        ? ""
        : "/v1"
      : tenant === null
        ? ""
        : `/${encodeURIComponent(tenant.toWellFormed())}`;
  const id = "taskId" in operation && operation.taskId !== null ? operation.taskId : "";
  const target = `${base}${prefix}${REST_PATHS[operation.kind](id)}`;
  if (!("text" in operation)) return { method: "GET", url: target };
  const shape = version === "1.0" ? "1.0" : "0.3 REST";
  return { method: "POST", url: target, body: JSON.stringify(paramsOf(operation, shape)) };
}
