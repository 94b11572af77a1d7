import { sleep } from "./sleep.ts";

const MINUTE_MS = 60_000;

/** What was taken of a minute's share; its amount may be set right once it is known. */
export interface Taken {
  readonly at: number;
  amount: number;
}

/**
 * At most so much in any minute, however the minutes are counted: a window that slides, first come, first served. (A
 * reservoir that is filled anew every minute, as bottleneck has it, lets twice as much through around that moment.)
 */
export class PerMinute {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #taken: Taken[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(limit: number, windowMs = MINUTE_MS) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Waits for room and takes it; an amount beyond the limit waits until it is alone. Throws when the run is stopped. */
  take(amount: number, signal: AbortSignal): Promise<Taken> {
    const taken = this.#last.then(() => this.#take(amount, signal));
    this.#last = taken.catch(() => {});
    return taken;
  }

  async #take(amount: number, signal: AbortSignal): Promise<Taken> {
    for (;;) {
      signal.throwIfAborted();
      const now = performance.now();
      while (this.#taken.length > 0 && this.#taken[0]!.at <= now - this.#windowMs) this.#taken.shift();
      const used = this.#taken.reduce((sum, one) => sum + one.amount, 0);
      const first = this.#taken[0];
      if (first === undefined || used + amount <= this.#limit) {
        const taken = { at: now, amount };
        this.#taken.push(taken);
        return taken;
      }
      await sleep(first.at + this.#windowMs - now, signal);
    }
  }
}
