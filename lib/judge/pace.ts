import { PerMinute } from "./per-minute.ts";
import { sleep } from "./sleep.ts";
import { Slots } from "./slots.ts";

/** Answers of a provider that say: later. */
export interface Busy {
  status: number | null;
  /** Milliseconds the provider asks to wait; null where it does not say. */
  retryAfterMs: number | null;
  /** Whether it is worth asking again at all. */
  again: boolean;
  /** Tries in all, where they are to be fewer than usual. */
  most?: number;
}

/** What a provider allows. */
export interface Limits {
  /** Calls at once. */
  atOnce: number;
  /** In any minute; null without a limit. */
  requestsPerMinute?: number | null | undefined;
  /** In any minute, in and out together; null without a limit. */
  tokensPerMinute?: number | null | undefined;
}

/** A call that tells what it cost. */
export interface Priced<T> {
  answer: T;
  /** Tokens, in and out together. */
  tokens: number;
}

const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 60_000;
const MOST_TRIES = 6;

/**
 * Calls of a judge, at most so many at once and in any minute. When a provider limits the rate, the number at once is
 * halved and comes back by one with each answer; a wait that it asks for is kept to by all.
 */
export class Pace {
  readonly #slots: Slots;
  readonly #requests: PerMinute | null;
  readonly #tokens: PerMinute | null;
  readonly #signal: AbortSignal;
  #notBefore = 0;
  /** The last call that was tried as often as it may be had no answer: others need not try as often. */
  #down = false;

  constructor({ atOnce, requestsPerMinute, tokensPerMinute }: Limits, signal: AbortSignal) {
    this.#slots = new Slots(atOnce);
    this.#requests = requestsPerMinute == null ? null : new PerMinute(requestsPerMinute);
    this.#tokens = tokensPerMinute == null ? null : new PerMinute(tokensPerMinute);
    this.#signal = signal;
  }

  /**
   * Sends a request of a call: in a place of its own, when the minute has room for it, and after whatever wait the
   * provider has asked for. Who makes the requests calls it for each.
   */
  async send<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    return await this.#slots.hold(signal, async () => {
      await this.#requests?.take(1, signal);
      await this.#wait(signal);
      return await request();
    });
  }

  /**
   * Makes a call when it may be made, again where `busy` says that this may help.
   *
   * @param expected tokens that it will cost, as far as that can be told before
   */
  async run<T>(
    call: () => Promise<Priced<T>>,
    busy: (error: unknown) => Busy | null,
    expected: number,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const taken = await this.#tokens?.take(expected, this.#signal);
      try {
        const { answer, tokens } = await call();
        if (taken !== undefined) taken.amount = tokens;
        this.#down = false;
        this.#slots.recover();
        return answer;
      } catch (error) {
        const told = busy(error);
        if (told === null || !told.again || this.#signal.aborted) throw error;
        const most = this.#down ? 1 : (told.most ?? MOST_TRIES);
        if (tries >= most) {
          this.#down = told.status !== 429;
          throw error;
        }
        await this.#backOff(told, tries);
      }
    }
  }

  async #backOff({ status, retryAfterMs }: Busy, tries: number): Promise<void> {
    const usual = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), LAST_BACKOFF_MS) * (0.5 + Math.random() / 2);
    const pause = retryAfterMs ?? usual;
    if (status !== 429) {
      await sleep(pause, this.#signal);
      return;
    }
    this.#slots.halve();
    this.#notBefore = Math.max(this.#notBefore, Date.now() + pause);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    // It may grow in the meantime.
    for (let left = this.#notBefore - Date.now(); left > 0; left = this.#notBefore - Date.now())
      await sleep(left, signal);
    signal.throwIfAborted();
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
