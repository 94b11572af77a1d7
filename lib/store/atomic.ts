import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** SHA-256 in hex. */
export type Digest = string;

/** SHA-256 of a text (as UTF-8) or bytes. */
export function digestOf(data: string | Uint8Array): Digest {
  return createHash("sha256").update(data).digest("hex");
}

let counter = 0;

/** A name in the same folder that no reader takes for the file itself; unique in this process and among processes. */
function temporaryName(file: string): string {
  counter += 1;
  return join(dirname(file), `.${basename(file).slice(0, 100)}.${process.pid}-${counter}.tmp`);
}

/** Makes a rename in a folder survive a power loss. Some file systems cannot sync a folder: then it is left to them. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await handle.sync();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EISDIR" && code !== "EPERM" && code !== "EINVAL" && code !== "ENOTSUP") throw error;
  } finally {
    await handle?.close();
  }
}

/**
 * A file that is written piece by piece and appears whole or not at all: pieces go to a temporary name beside it, and
 * `commit` syncs, renames and syncs the folder. Ended without `commit`, it leaves nothing.
 */
export class AtomicFile implements AsyncDisposable {
  readonly file: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash("sha256");
  #pending: string[] = [];
  #pendingLength = 0;
  #open = true;

  private constructor(file: string, temporary: string, handle: FileHandle) {
    this.file = file;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  /** Opens the temporary file. Throws what the file system says. */
  static async create(file: string): Promise<AtomicFile> {
    const temporary = temporaryName(file);
    return new AtomicFile(file, temporary, await open(temporary, "wx"));
  }

  /** Adds text; held back until about 64 KiB are together. */
  async write(text: string): Promise<void> {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength > 65_536) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(""), "utf8");
    this.#pending = [];
    this.#pendingLength = 0;
    this.#hash.update(bytes);
    await this.#handle.writeFile(bytes);
  }

  /** Puts the file in its place and gives the digest of its bytes. */
  async commit(): Promise<Digest> {
    await this.#flush();
    await this.#handle.sync();
    await this.#close();
    await rename(this.#temporary, this.file);
    await syncFolder(dirname(this.file));
    return this.#hash.digest("hex");
  }

  async #close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#handle.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#open) return;
    await this.#close();
    await rm(this.#temporary, { force: true });
  }
}

/** Writes a whole file so that it appears whole or not at all, and gives the digest of its bytes. */
export async function writeFileAtomic(file: string, text: string): Promise<Digest> {
  await using target = await AtomicFile.create(file);
  await target.write(text);
  return await target.commit();
}

/** JSON as the result files have it: two blanks of indentation. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
