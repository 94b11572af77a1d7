import type { AgentEvent } from "../event.ts";

/** What the events of one turn have said so far. */
export class AnswerState {
  begun = false;
  /** The task that was told of first. */
  taskId: string | null = null;
  /** The task whose state was told last. */
  askingTask: string | null = null;
  state: string | null = null;
  #message = false;
  #final = false;

  /** Whether the answer is complete as far as the agent says. A message is, where no task does the work. */
  get ended(): boolean {
    return this.#final || (this.#message && this.state === null);
  }

  note(event: AgentEvent): void {
    if (event.kind === "problem") return;
    this.begun = true;
    if (event.taskId !== undefined) this.taskId ??= event.taskId;
    if (event.kind === "message") this.#message = true;
    if (event.kind !== "status") return;
    this.state = event.state;
    this.askingTask = event.taskId ?? this.taskId;
    if (event.state !== "working") this.#final = true;
  }
}
