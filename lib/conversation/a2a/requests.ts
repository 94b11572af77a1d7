import { randomUUID } from "node:crypto";
import type { A2aVersion, AgentInterface } from "./card.ts";

interface Turn {
  kind: "stream" | "send";
  text: string;
  contextId: string;
  taskId: string | null;
}

/** What is asked of an agent. */
export type Operation = Turn | { kind: "get" | "subscribe"; taskId: string };

/** A request as it goes out. */
export interface WireRequest {
  method: "GET" | "POST";
  url: string;
  body?: string;
}

const METHODS: Readonly<Record<A2aVersion, Record<Operation["kind"], string>>> = {
  "1.0": {
    stream: "SendStreamingMessage",
    send: "SendMessage",
    get: "GetTask",
    subscribe: "SubscribeToTask",
  },
  "0.3": { stream: "message/stream", send: "message/send", get: "tasks/get", subscribe: "tasks/resubscribe" },
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

function paramsOf(operation: Operation, version: A2aVersion): Record<string, unknown> {
  if (!("text" in operation)) return { id: operation.taskId };
  const message = messageOf(operation, version);
  if (operation.kind === "stream") return { message };
  // An answer without stream is best had whole; servers that cannot wait answer with what they have.
  return { message, configuration: version === "1.0" ? { returnImmediately: false } : { blocking: true } };
}

function messageOf(
  operation: Extract<Operation, { text: string }>,
  version: A2aVersion,
): Record<string, unknown> {
  const { text, contextId, taskId } = operation;
  const ids = { messageId: randomUUID(), contextId, ...(taskId === null ? {} : { taskId }) };
  return version === "1.0"
    ? { ...ids, role: "ROLE_USER", parts: [{ text }] }
    : { kind: "message", ...ids, role: "user", parts: [{ kind: "text", text }] };
}

const REST_PATHS: Readonly<Record<Operation["kind"], (id: string) => string>> = {
  stream: () => "/message:stream",
  send: () => "/message:send",
  get: (id) => `/tasks/${encodeURIComponent(id)}`,
  subscribe: (id) => `/tasks/${encodeURIComponent(id)}:subscribe`,
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
        : `/${encodeURIComponent(tenant)}`;
  const id = "taskId" in operation && operation.taskId !== null ? operation.taskId : "";
  const target = `${base}${prefix}${REST_PATHS[operation.kind](id)}`;
  if (!("text" in operation)) return { method: "GET", url: target };
  return { method: "POST", url: target, body: JSON.stringify(paramsOf(operation, version)) };
}
