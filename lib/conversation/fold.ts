import type { EpisodeEvent } from "../eval/episode.ts";
import type { AgentEvent, TaskState } from "./event.ts";

/** How many events of an attempt its episode keeps. */
export const MOST_EVENTS = 200;

/**
 * The status of an answer: the last final one that a status said; where none did, completed when a message or an
 * artifact came; working when only work was told of; null when nothing came.
 */
export function finalStatus(events: readonly AgentEvent[]): TaskState | null {
  const states = events.flatMap((event) => (event.kind === "status" ? [event.state] : []));
  const final = states.findLast((state) => state !== "working");
  if (final !== undefined) return final;
  if (events.some(({ kind }) => kind === "message" || kind === "artifact")) return "completed";
  return states.length > 0 ? "working" : null;
}

/**
 * The text of an answer, by the first of these that gives any: the final status's; the artifacts', by id in order; the
 * messages', joined by id; those of the working statuses.
 */
export function finalOutput(events: readonly AgentEvent[]): string {
  const statuses = events.filter((event) => event.kind === "status");
  const last = statuses.findLast(({ state }) => state !== "working");
  if (last !== undefined && last.text !== "") return last.text;
  const artifacts = artifactTexts(events).join("\n");
  if (artifacts !== "") return artifacts;
  const messages = messageTexts(events).join("\n");
  if (messages !== "") return messages;
  return workingText(statuses.filter(({ state }) => state === "working").map(({ text }) => text));
}

/** A first chunk may already say `append`; a chunk without it replaces what came before. */
function artifactTexts(events: readonly AgentEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.kind !== "artifact") continue;
    texts.set(event.id, event.append ? (texts.get(event.id) ?? "") + event.text : event.text);
  }
  return [...texts.values()].filter((text) => text !== "");
}

function messageTexts(events: readonly AgentEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.kind === "message") texts.set(event.id, (texts.get(event.id) ?? "") + event.text);
  }
  return [...texts.values()].filter((text) => text !== "");
}

/** Texts that grow from event to event are one text; others are lines of their own. */
function workingText(texts: readonly string[]): string {
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines[lines.length - 1];
    if (text === "" || text === last) continue;
    if (last !== undefined && text.startsWith(last)) lines[lines.length - 1] = text;
    else lines.push(text);
  }
  return lines.join("\n");
}

/** An event as the episode keeps it; null for one that has no status. */
export function episodeEvent(event: AgentEvent, tMs: number, userInput: string | null): EpisodeEvent | null {
  if (event.kind === "problem") return null;
  const status = event.kind === "status" ? event.state : "completed";
  return { t_ms: tMs, task_status: status, content_preview: event.text, user_input: userInput };
}
