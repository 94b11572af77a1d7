import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, writeFileAtomic } from "../store/atomic.ts";
import type { Judged } from "./ask.ts";

/** Answers of judges, kept by all that they depend on, so that nothing is asked twice. */
export class AnswerCache {
  readonly #folder: string;
  readonly #reads: boolean;

  /** @param reads false writes answers and reads none: everything is asked anew */
  constructor(folder: string, reads: boolean) {
    this.#folder = folder;
    this.#reads = reads;
  }

  async get(key: readonly string[]): Promise<Judged | null> {
    if (!this.#reads) return null;
    try {
      return JSON.parse(await readFile(this.#file(key), "utf8")) as Judged;
    } catch {
      return null;
    }
  }

  /** Only scores are kept: trouble may be over the next time. */
  async put(key: readonly string[], judged: Judged): Promise<void> {
    if (judged.score === null) return;
    await mkdir(this.#folder, { recursive: true });
    await writeFileAtomic(this.#file(key), JSON.stringify(judged));
  }

  #file(key: readonly string[]): string {
    return join(this.#folder, `${digestOf(JSON.stringify(key))}.json`);
  }
}
