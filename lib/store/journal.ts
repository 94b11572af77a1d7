import { constants } from "node:fs";
import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { BatError, messageOf } from "../errors.ts";

/** What every line of a journal has: the time and the name of the fact. */
export interface BaseFact {
  at: string;
  fact: string;
}

/**
 * Reads a journal. The last line may be torn (the writer was killed in the middle of it) and is then no part of it;
 * anything else that is not a fact means that the file was damaged, and throws with file and line.
 *
 * @returns the facts and how many bytes of the file hold them.
 */
export async function readJournal<F extends BaseFact>(file: string): Promise<{ facts: F[]; bytes: number }> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { facts: [], bytes: 0 };
    throw error;
  }
  const facts: F[] = [];
  let start = 0;
  for (let line = 1; ; line += 1) {
    const end = content.indexOf(10, start);
    if (end === -1) break;
    facts.push(parseFact<F>(content.toString("utf8", start, end), file, line));
    start = end + 1;
  }
  return { facts, bytes: start };
}

function parseFact<F extends BaseFact>(text: string, file: string, line: number): F {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BatError(
      "store",
      `${file} line ${line}: Expected a fact as JSON, found damage: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  if (typeof value !== "object" || value === null || typeof (value as BaseFact).fact !== "string") {
    throw new BatError(
      "store",
      `${file} line ${line}: Expected an object with a "fact", found ${text.slice(0, 80)}`,
    );
  }
  return value as F;
}

/**
 * Appends facts, each one line and one `write`, in the order of the calls. Facts that must survive a power loss are
 * synced; several that wait at the same time share one sync.
 */
export class Journal<F extends BaseFact> implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #now: () => Date;
  #tail: Promise<void> = Promise.resolve();
  #synced: Promise<void> | null = null;

  private constructor(handle: FileHandle, now: () => Date) {
    this.#handle = handle;
    this.#now = now;
  }

  /** Opens for appending after the last whole fact; a torn line behind it is cut off. The caller holds the lock. */
  static async open<F extends BaseFact>(file: string, bytes: number, now: () => Date): Promise<Journal<F>> {
    const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o644);
    const { size } = await handle.stat();
    if (size > bytes) await truncate(file, bytes);
    return new Journal<F>(handle, now);
  }

  /** Appends a fact. With `sync`, resolves when it is on disk. */
  append(fact: Omit<F, "at">, options: { sync?: boolean } = {}): Promise<void> {
    const line = `${JSON.stringify({ at: this.#now().toISOString(), ...fact })}\n`;
    const written = this.#tail.then(async () => {
      const { bytesWritten } = await this.#handle.write(line);
      if (bytesWritten !== Buffer.byteLength(line))
        throw new BatError("store", "Cannot write the journal: the disk is full");
    });
    this.#tail = written;
    // A failed write must reach the caller, not stop the process as an unhandled rejection of the chain.
    this.#tail.catch(() => {});
    return options.sync ? written.then(() => this.#sync()) : written;
  }

  /** A sync that has not begun yet covers every line written until it begins. */
  #sync(): Promise<void> {
    if (this.#synced === null) {
      this.#synced = this.#tail.then(() => {
        this.#synced = null;
        return this.#handle.sync();
      });
    }
    return this.#synced;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail.catch(() => {});
    await this.#handle.close();
  }
}
