/**
 * Places for calls that are open at once, first come, first served. A provider that limits the rate halves their number;
 * each answer gives one back, up to the most there may be.
 */
export class Slots {
  readonly #most: number;
  #allowed: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#allowed = most;
  }

  /** Runs something in a place. Rejects with the signal's reason when that is aborted while it waits. */
  async hold<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#taken >= this.#allowed) await this.#turn(signal);
    else this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
      this.#next();
    }
  }

  halve(): void {
    this.#allowed = Math.max(1, Math.floor(this.#allowed / 2));
  }

  recover(): void {
    if (this.#allowed >= this.#most) return;
    this.#allowed += 1;
    this.#next();
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        this.#taken += 1;
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(begin);
    });
  }

  #next(): void {
    while (this.#taken < this.#allowed) {
      const begin = this.#waiting.shift();
      if (begin === undefined) return;
      begin();
    }
  }
}
