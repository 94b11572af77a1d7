import Bottleneck from "bottleneck";

/** Answers of a provider that say: later. */
export interface Busy {
  status: number | null;
  /** Milliseconds the provider asks to wait; null where it does not say. */
  retryAfterMs: number | null;
  /** Whether it is worth asking again at all. */
  again: boolean;
}

const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 60_000;
const MOST_TRIES = 6;

/**
 * Calls of a judge, at most so many at once. When a provider limits the rate, the number at once is halved and comes
 * back by one with each answer; a wait that it asks for is kept to by all.
 */
export class Pace {
  readonly #limiter: Bottleneck;
  readonly #most: number;
  readonly #signal: AbortSignal;
  #atOnce: number;
  #notBefore = 0;

  constructor(most: number, signal: AbortSignal) {
    this.#most = most;
    this.#atOnce = most;
    this.#signal = signal;
    this.#limiter = new Bottleneck({ maxConcurrent: most });
  }

  /** Runs a call in its turn, again where `busy` says that this may help. */
  async run<T>(call: () => Promise<T>, busy: (error: unknown) => Busy | null): Promise<T> {
    return await this.#limiter.schedule(async () => {
      for (let tries = 1; ; tries += 1) {
        await this.#wait();
        try {
          const answer = await call();
          this.#recover();
          return answer;
        } catch (error) {
          const told = busy(error);
          if (told === null || !told.again || tries >= MOST_TRIES || this.#signal.aborted) throw error;
          if (told.status === 429) this.#slowDown();
          const backoff =
            Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), LAST_BACKOFF_MS) * (0.5 + Math.random() / 2);
          const pause = told.retryAfterMs ?? backoff;
          if (told.status === 429) this.#notBefore = Math.max(this.#notBefore, Date.now() + pause);
          else await sleep(pause, this.#signal);
        }
      }
    });
  }

  async #wait(): Promise<void> {
    const left = this.#notBefore - Date.now();
    if (left > 0) await sleep(left, this.#signal);
    this.#signal.throwIfAborted();
  }

  #slowDown(): void {
    this.#atOnce = Math.max(1, Math.floor(this.#atOnce / 2));
    this.#limiter.updateSettings({ maxConcurrent: this.#atOnce });
  }

  #recover(): void {
    if (this.#atOnce >= this.#most) return;
    this.#atOnce += 1;
    this.#limiter.updateSettings({ maxConcurrent: this.#atOnce });
  }
}

/** `Retry-After` in seconds or as a date, or `retry-after-ms`. */
export function retryAfterMs(
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | null {
  const inMs = headers?.["retry-after-ms"];
  if (inMs !== undefined && /^\d+(\.\d+)?$/.test(inMs)) return Number(inMs);
  const after = headers?.["retry-after"];
  if (after === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
