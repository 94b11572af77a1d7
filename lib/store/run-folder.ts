import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { BatError, messageOf } from "../errors.ts";
import { type Digest, jsonText, syncFolder, writeFileAtomic } from "./atomic.ts";
import { type BaseFact, Journal, readJournal } from "./journal.ts";
import { acquireLock, type Lock } from "./lock.ts";

const PLAN_FILE = "run.json";
const JOURNAL_FILE = "journal.jsonl";

/** What is on disk of a run: its plan, fixed once written, and the facts so far, in order. */
export interface StoredRun<P, F extends BaseFact> {
  plan: P;
  facts: F[];
}

/**
 * Reads a run's folder without holding it.
 *
 * @param parsePlan checks what `run.json` holds and throws what is wrong with it
 */
export async function readRun<P, F extends BaseFact>(
  directory: string,
  parsePlan: (value: unknown, file: string) => P,
): Promise<StoredRun<P, F>> {
  const plan = await readPlan(directory, parsePlan);
  const { facts } = await readJournal<F>(join(directory, JOURNAL_FILE));
  return { plan, facts };
}

async function readPlan<P>(directory: string, parsePlan: (value: unknown, file: string) => P): Promise<P> {
  const file = join(directory, PLAN_FILE);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new BatError("store", `"${directory}" is not the folder of a run: it has no ${PLAN_FILE}`, {
      cause: error,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BatError("store", `${file}: Expected JSON, found damage: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return parsePlan(value, file);
}

/**
 * A run's folder, held for writing by this process until it is disposed of. Truth lies in the plan and the journal;
 * artifacts are put in place first and journalled then, so a fact never speaks of a file that is not there.
 */
export class RunFolder<P, F extends BaseFact> implements AsyncDisposable {
  readonly directory: string;
  readonly plan: P;
  readonly #lock: Lock;
  readonly #journal: Journal<F>;
  readonly #folders = new Set<string>();

  private constructor(directory: string, plan: P, lock: Lock, journal: Journal<F>) {
    this.directory = directory;
    this.plan = plan;
    this.#lock = lock;
    this.#journal = journal;
  }

  /** Makes the folder of a new run. The plan is on disk when this resolves. Throws EEXIST when the folder exists. */
  static async create<P, F extends BaseFact>(
    directory: string,
    plan: P,
    now: () => Date,
  ): Promise<RunFolder<P, F>> {
    await mkdir(directory);
    const lock = await acquireLock(directory);
    try {
      await writeFileAtomic(join(directory, PLAN_FILE), jsonText(plan));
      await syncFolder(join(directory, ".."));
      const journal = await Journal.open<F>(join(directory, JOURNAL_FILE), 0, now);
      return new RunFolder(directory, plan, lock, journal);
    } catch (error) {
      await lock[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Opens a run for going on with it. Throws when another process holds it or its journal is damaged. */
  static async open<P, F extends BaseFact>(
    directory: string,
    parsePlan: (value: unknown, file: string) => P,
    now: () => Date,
  ): Promise<{ folder: RunFolder<P, F>; facts: F[] }> {
    const plan = await readPlan(directory, parsePlan);
    const lock = await acquireLock(directory);
    try {
      const file = join(directory, JOURNAL_FILE);
      const { facts, bytes } = await readJournal<F>(file);
      const journal = await Journal.open<F>(file, bytes, now);
      return { folder: new RunFolder<P, F>(directory, plan, lock, journal), facts };
    } catch (error) {
      await lock[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Absolute path of something in the folder. */
  path(...parts: string[]): string {
    return join(this.directory, ...parts);
  }

  /** Makes a folder in the run's folder, once. */
  async ensureFolder(relative: string): Promise<void> {
    if (this.#folders.has(relative)) return;
    await mkdir(this.path(relative), { recursive: true });
    this.#folders.add(relative);
  }

  /** Puts a text artifact in place, whole, then journals the fact that is made from its digest. */
  async keep(relative: string, text: string, fact: (digest: Digest) => Omit<F, "at">): Promise<void> {
    const digest = await writeFileAtomic(this.path(relative), text);
    await this.record(fact(digest), { sync: true });
  }

  /** Journals a fact. With `sync`, resolves when it is on disk. */
  record(fact: Omit<F, "at">, options: { sync?: boolean } = {}): Promise<void> {
    return this.#journal.append(fact, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#journal[Symbol.asyncDispose]();
    await this.#lock[Symbol.asyncDispose]();
  }
}
