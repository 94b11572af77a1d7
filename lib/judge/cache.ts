import { randomBytes } from "node:crypto";
import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../store/atomic.ts";
import type { Judged } from "./ask.ts";

const DIGEST_LENGTH = 64;
const ENDING = ".jsonl";

/** Where an answer stands. */
interface Place {
  file: string;
  at: number;
  length: number;
}

/**
 * Answers of judges, kept by all that they depend on, so that nothing is asked twice. Each process adds lines
 * (`<digest of the key> <answer>`) to a file of its own in the folder, without waiting for the disk: a line that a crash
 * cuts is one more question. Only where answers stand is kept in memory.
 */
export class AnswerCache {
  readonly #folder: string;
  readonly #reads: boolean;
  readonly #file: string;
  #length = 0;
  #known: Map<string, Place> | null = null;

  /** @param reads false writes answers and reads none: everything is asked anew */
  constructor(folder: string, reads: boolean) {
    this.#folder = folder;
    this.#reads = reads;
    this.#file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}${ENDING}`);
  }

  get(key: readonly string[]): Judged | null {
    if (!this.#reads) return null;
    this.#known ??= knownIn(this.#folder);
    const place = this.#known.get(digestOf(JSON.stringify(key)));
    return place === undefined ? null : readAnswer(place);
  }

  /** Only scores are kept: trouble may be over the next time. */
  put(key: readonly string[], judged: Judged): void {
    if (judged.score === null) return;
    const digest = digestOf(JSON.stringify(key));
    const line = Buffer.from(`${digest} ${JSON.stringify(judged)}\n`, "utf8");
    if (this.#length === 0) mkdirSync(this.#folder, { recursive: true });
    appendFileSync(this.#file, line);
    const length = line.length - DIGEST_LENGTH - 2;
    this.#known?.set(digest, { file: this.#file, at: this.#length + DIGEST_LENGTH + 1, length });
    this.#length += line.length;
  }
}

function knownIn(folder: string): Map<string, Place> {
  const known = new Map<string, Place>();
  let names: string[] = [];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
  } catch {
    // No folder: nothing is known.
  }
  for (const name of names.sort()) {
    const file = join(folder, name);
    const content = readFileSync(file);
    for (let start = 0, end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
      const at = start + DIGEST_LENGTH + 1;
      known.set(content.toString("latin1", start, start + DIGEST_LENGTH), { file, at, length: end - at });
      start = end + 1;
    }
  }
  return known;
}

function readAnswer({ file, at, length }: Place): Judged | null {
  try {
    const bytes = Buffer.alloc(length);
    const handle = openSync(file, "r");
    try {
      readSync(handle, bytes, 0, length, at);
    } finally {
      closeSync(handle);
    }
    return JSON.parse(bytes.toString("utf8")) as Judged;
  } catch {
    return null;
  }
}
