import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../event.ts";
import { mapTaskState } from "../task-state.ts";

type Value = Record<string, unknown>;

function isValue(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Events, and the id of the conversation as the server calls it. */
export interface Decoded {
  events: AgentEvent[];
  contextId: string | null;
}

/**
 * The events that a result of either version stands for (`{statusUpdate: …}` of 1.0, `{kind: "status-update", …}` of
 * 0.3, whichever the stream is said to be), or null when it is none that A2A knows.
 */
export function decodeResult(result: unknown): Decoded | null {
  if (!isValue(result)) return null;
  const inner =
    [result.task, result.statusUpdate, result.artifactUpdate, result.message, result.msg].find(isValue) ??
    result;
  const events = decodeEvents(result);
  return events === null ? null : { events, contextId: textOf(inner.contextId) ?? null };
}

function decodeEvents(result: Value): AgentEvent[] | null {
  if (isValue(result.task)) return decodeTask(result.task);
  if (isValue(result.statusUpdate)) return decodeStatus(result.statusUpdate);
  if (isValue(result.artifactUpdate)) return decodeArtifact(result.artifactUpdate);
  if (isValue(result.message)) return decodeMessage(result.message);
  if (isValue(result.msg)) return decodeMessage(result.msg);
  switch (result.kind) {
    case "task":
      return decodeTask(result);
    case "status-update":
      return decodeStatus(result);
    case "artifact-update":
      return decodeArtifact(result);
    case "message":
      return decodeMessage(result);
    default:
      // GetTask answers with the bare task.
      return isValue(result.status) && typeof result.id === "string" ? decodeTask(result) : null;
  }
}

/** A task as it stands: its artifacts replace what was told of them before, for each is whole. */
function decodeTask(task: Value): AgentEvent[] | null {
  const taskId = textOf(task.id);
  const status = decodeStatus({ status: task.status, taskId });
  if (status === null) return null;
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts.filter(isValue) : [];
  const events = artifacts.flatMap(
    (artifact) => decodeArtifact({ artifact, taskId, lastChunk: true }, joinChunks) ?? [],
  );
  const told = [...events, ...status].some((event) => event.kind !== "problem" && event.text !== "");
  const ended = status.some((event) => event.kind === "status" && event.state !== "working");
  if (ended && !told) events.push(...lastAnswer(task));
  return [...events, ...status];
}

/** The agent's last message of a task's history, for agents that answer nowhere else. */
function lastAnswer(task: Value): AgentEvent[] {
  const history = Array.isArray(task.history) ? task.history.filter(isValue) : [];
  const answer = history.findLast(({ role }) => role === "agent" || role === "ROLE_AGENT");
  return answer === undefined ? [] : (decodeMessage(answer) ?? []);
}

function decodeStatus(update: Value): AgentEvent[] | null {
  const status = isValue(update.status) ? update.status : null;
  const rawState = textOf(status?.state);
  if (status === null || rawState === undefined) return null;
  const state = mapTaskState(rawState);
  // A state that is not known says nothing that could decide.
  if (state === null) return [];
  const text = partsText(isValue(status.message) ? status.message : {});
  const taskId = textOf(update.taskId);
  return [
    {
      kind: "status",
      state,
      text,
      rawState,
      ...(taskId === undefined ? {} : { taskId }),
    },
  ];
}

function decodeArtifact(update: Value, join = joinLines): AgentEvent[] | null {
  if (!isValue(update.artifact)) return null;
  const taskId = textOf(update.taskId);
  return [
    {
      kind: "artifact",
      id: textOf(update.artifact.artifactId) ?? textOf(update.artifact.name) ?? "",
      append: update.append === true,
      last: update.lastChunk === true,
      text: join(partTexts(update.artifact)),
      ...(taskId === undefined ? {} : { taskId }),
    },
  ];
}

function decodeMessage(message: Value): AgentEvent[] | null {
  const parts = message.parts ?? message.content;
  if (!Array.isArray(parts)) return null;
  if (message.role === "user" || message.role === "ROLE_USER") return [];
  const taskId = textOf(message.taskId);
  const id = textOf(message.messageId) ?? randomUUID();
  return [{ kind: "message", id, text: partsText(message), ...(taskId === undefined ? {} : { taskId }) }];
}

function partsText(holder: Value): string {
  return joinLines(partTexts(holder));
}

function joinLines(texts: readonly string[]): string {
  return texts.join("\n");
}

/** What came in chunks is kept by servers as one part for each: those bring the space between them along. */
function joinChunks(texts: readonly string[]): string {
  const chunks = texts.some(
    (text, i) => (i > 0 && /^\s/.test(text)) || (i < texts.length - 1 && /\s$/.test(text)),
  );
  return texts.join(chunks ? "" : "\n");
}

/** The text parts of a message or an artifact; data and files are not text. */
function partTexts(holder: Value): string[] {
  const parts = holder.parts ?? holder.content;
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => {
    if (!isValue(part)) return [];
    if (typeof part.text === "string") return [part.text];
    // How some servers write protobuf's oneof.
    const inner = isValue(part.part) ? part.part : isValue(part.content) ? part.content : null;
    return inner !== null &&
      (inner.$case === "text" || inner.case === "text") &&
      typeof inner.value === "string"
      ? [inner.value]
      : [];
  });
}
