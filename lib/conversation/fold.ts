import type { EpisodeEvent } from "../eval/episode.ts";
import type { AgentEvent, TaskState } from "./event.ts";

/** How many events of an attempt its episode keeps. */
export const MOST_EVENTS = 200;

/**
 * Status and text of one turn's answer, from its events as they come. Only what can still decide is kept, so that a
 * stream which tells its text anew with every event costs no more than the text.
 */
export class AnswerFold {
  #final: { state: TaskState; text: string } | null = null;
  #worked = false;
  #told = false;
  readonly #artifacts = new Texts();
  readonly #messages = new Texts();
  readonly #working: string[] = [];
  #workingSize = 0;

  add(event: AgentEvent): void {
    switch (event.kind) {
      case "status":
        if (event.state !== "working") this.#final = { state: event.state, text: event.text };
        else this.#addWorking(event.text);
        break;
      case "artifact":
        this.#told = true;
        // A first chunk may already say `append`; a chunk without it replaces what came before.
        this.#artifacts.put(event.id, event.text, event.append);
        break;
      case "message":
        this.#told = true;
        this.#messages.put(event.id, event.text, true);
        break;
    }
  }

  /** Texts that grow from event to event are one text; others are lines of their own. */
  #addWorking(text: string): void {
    this.#worked = true;
    const last = this.#working[this.#working.length - 1];
    if (text === "" || text === last) return;
    if (last !== undefined && text.startsWith(last)) {
      this.#working[this.#working.length - 1] = text;
      this.#workingSize -= last.length;
    } else this.#working.push(text);
    this.#workingSize += text.length;
  }

  /** Whether a final state was told. */
  get settled(): boolean {
    return this.#final !== null;
  }

  /** UTF-16 units that are kept. */
  get size(): number {
    const finalSize = this.#final?.text.length ?? 0;
    return finalSize + this.#artifacts.size + this.#messages.size + this.#workingSize;
  }

  /**
   * The last final status that was told; where none was, completed when a message or an artifact came; working when
   * only work was told of; null when nothing came.
   */
  get status(): TaskState | null {
    if (this.#final !== null) return this.#final.state;
    if (this.#told) return "completed";
    return this.#worked ? "working" : null;
  }

  /**
   * The text by the first of these that gives any: the final status's; the artifacts', by id in order; the messages',
   * joined by id; those of the working statuses.
   */
  get output(): string {
    const final = this.#final?.text ?? "";
    if (final !== "") return final;
    return this.#artifacts.joined() || this.#messages.joined() || this.#working.join("\n");
  }
}

/** Texts by id, in the order in which the ids came first. */
class Texts {
  readonly #texts = new Map<string, string>();
  size = 0;

  put(id: string, text: string, append: boolean): void {
    const before = this.#texts.get(id);
    if (before === undefined) this.size += id.length;
    else if (!append) this.size -= before.length;
    this.size += text.length;
    this.#texts.set(id, append ? (before ?? "") + text : text);
  }

  joined(): string {
    return [...this.#texts.values()].filter((text) => text !== "").join("\n");
  }
}

/** An event as the episode keeps it; null for one that has no status. */
export function episodeEvent(event: AgentEvent, tMs: number, userInput: string | null): EpisodeEvent | null {
  if (event.kind === "problem") return null;
  const status = event.kind === "status" ? event.state : "completed";
  return { t_ms: tMs, task_status: status, content_preview: event.text, user_input: userInput };
}
