import type { ProblemCode } from "./event.ts";

/** Why a conversation came to an end that the agent did not give it. */
export interface Ending {
  code: ProblemCode;
  name: string;
  message: string;
}

export interface LimitsInput {
  /** Longest silence of the agent, in milliseconds. */
  turnTimeoutMs: number;
  attemptTimeoutMs?: number;
  signal: AbortSignal;
  agentExited?: AbortSignal;
}

/** How long a stream may be silent after its final state before it is taken as ended, in milliseconds. */
const GRACE_MS = 2_000;
/** How long the news of a dead process may take after its connection was cut, in milliseconds. */
export const EXIT_NEWS_MS = 500;

/** Ends a turn that takes too long, and one whose agent is gone; leaves no timer and no listener behind. */
export class Limits implements Disposable {
  readonly #input: LimitsInput;
  readonly #attempt: NodeJS.Timeout | undefined;
  #controller = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #exit: NodeJS.Timeout | undefined;
  /** When the turn's final state was told first, and so when its stream is at an end at the latest. */
  #settledUntil: number | null = null;
  /** Why the conversation was ended from here. */
  reached: Ending | null = null;
  /** Whether the turn's stream was ended from here because it went on in silence after its final state. */
  lingered = false;

  constructor(input: LimitsInput) {
    this.#input = input;
    const { attemptTimeoutMs, signal, agentExited } = input;
    signal.addEventListener("abort", this.#stop);
    agentExited?.addEventListener("abort", this.#exited);
    if (attemptTimeoutMs !== undefined) {
      const message = `The attempt took longer than ${attemptTimeoutMs / 1000} s (evaluation.attempt_timeout_s)`;
      this.#attempt = setTimeout(
        () => this.#end({ code: "timeout", name: "AttemptTimeout", message }),
        attemptTimeoutMs,
      );
    }
    if (signal.aborted) this.#stop();
    if (agentExited?.aborted === true) this.#exited();
  }

  /** Begins a turn; its signal is aborted when the turn has to end. */
  startTurn(): AbortSignal {
    this.#controller = new AbortController();
    this.lingered = false;
    this.#settledUntil = null;
    if (this.reached !== null) this.#controller.abort();
    else this.heard(false);
    return this.#controller.signal;
  }

  /**
   * The agent said something: its silence begins anew. After the final state only a short while is waited, and to one
   * that does not stop talking then, no longer than the turn's limit is listened.
   */
  heard(settled: boolean): void {
    clearTimeout(this.#silence);
    const { turnTimeoutMs } = this.#input;
    const now = performance.now();
    if (settled) this.#settledUntil ??= now + turnTimeoutMs;
    const wait = settled ? Math.min(GRACE_MS, Math.max(0, this.#settledUntil! - now)) : turnTimeoutMs;
    this.#silence = setTimeout(() => {
      if (settled) {
        this.lingered = true;
        this.#controller.abort();
      } else {
        const message = `No event for ${turnTimeoutMs / 1000} s (evaluation.turn_timeout_s)`;
        this.#end({ code: "idle", name: "TurnTimeout", message });
      }
    }, wait);
  }

  endTurn(): void {
    clearTimeout(this.#silence);
  }

  #end(ending: Ending): void {
    this.reached ??= ending;
    this.#controller.abort();
  }

  readonly #stop = () => this.#end({ code: "canceled", name: "Canceled", message: "The run was stopped" });

  readonly #exited = () => {
    // What the dead process still wrote is on its way: the stream's own end is given a moment to come first.
    this.#exit = setTimeout(() => this.#end(exitEnding(this.#input.agentExited!)), EXIT_NEWS_MS);
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#attempt);
    clearTimeout(this.#exit);
    this.#input.signal.removeEventListener("abort", this.#stop);
    this.#input.agentExited?.removeEventListener("abort", this.#exited);
  }
}

export function exitEnding(exited: AbortSignal): Ending {
  return { code: "agent-exited", name: "AgentExited", message: (exited.reason as Error).message };
}

/** Whether a signal is aborted, now or within a time. */
export function isAborted(signal: AbortSignal, withinMs: number): Promise<boolean> {
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
