import type { Episode } from "./episode.ts";
import { percentile } from "./statistics.ts";

/** Tokens of episodes, summed. */
export class Tokens {
  in = 0;
  out = 0;
  cached = 0;

  add(episode: Episode): void {
    const { tokens_in, tokens_out, tokens_cached } = episode.trace.trajectory.totals;
    this.in += tokens_in;
    this.out += tokens_out;
    this.cached += tokens_cached;
  }

  get plain() {
    return { in: this.in, out: this.out, cached: this.cached };
  }
}

/** Durations of carried-out attempts: eight bytes each. */
export class Durations {
  #values = new Float64Array(16);
  #count = 0;
  total = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count] = value;
    this.#count += 1;
    this.total += value;
  }

  summary(): { p50: number; p95: number; total: number } | null {
    if (this.#count === 0) return null;
    const sorted = this.#values.slice(0, this.#count).sort();
    return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), total: this.total };
  }
}

/** Sum, smallest, largest and number of values. */
export class Spread {
  #sum = 0;
  /** What rounding lost of the sum (Neumaier's summation): a mean must not depend on the order of its values. */
  #lost = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  count = 0;

  add(value: number): void {
    const next = this.#sum + value;
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.count += 1;
  }

  get sum(): number {
    return this.#sum + this.#lost;
  }

  get avg(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }
}
