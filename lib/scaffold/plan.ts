import { lstat } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { finishPending } from "../edit/pending.ts";
import { readText } from "../edit/read.ts";
import { type FileChange, writeChanges } from "../edit/write.ts";
import { BatError } from "../errors.ts";

/** What of the world scaffolding needs. */
export interface ScaffoldPlace extends Pick<World, "cwd" | "stdout"> {
  dryRun: boolean;
}

/** What a scaffolding command did, for the user. */
export interface Scaffolded {
  /** Folder of what was made, absolute. */
  dir: string;
  /** Names of the files that were, or would be, written. */
  written: string[];
  warnings: string[];
}

/**
 * Every file that is to be written, gathered before the first one is: what stops one of them stops all.
 */
export class FilePlan {
  readonly #place: ScaffoldPlace;
  readonly #changes = new Map<string, FileChange>();

  constructor(place: ScaffoldPlace) {
    this.#place = place;
  }

  /** How a path is called in messages. */
  shown(path: string): string {
    return relative(this.#place.cwd, path) || path;
  }

  /** What a file holds, null where there is none. Throws BatError (code `config`) for what cannot be read as text. */
  async current(path: string): Promise<string | null> {
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      if (error.code === "ENOTDIR")
        throw new BatError(
          "config",
          `Cannot write ${this.shown(path)}: "${this.shown(dirname(path))}" is no folder`,
        );
      throw new BatError("config", `Cannot write ${this.shown(path)}: ${error.message}`, { cause: error });
    });
    if (found === null) return null;
    if (found.isDirectory()) throw new BatError("config", `Cannot write ${this.shown(path)}: it is a folder`);
    return await readText(path, this.shown(path));
  }

  /** Plans a file to hold a text, whatever it holds now. */
  async put(path: string, after: string): Promise<void> {
    this.#changes.set(resolve(path), { path: resolve(path), before: await this.current(path), after });
  }

  /** Plans a file only where there is none yet; false where there is. */
  async putNew(path: string, after: string): Promise<boolean> {
    if ((await this.current(path)) !== null) return false;
    await this.put(path, after);
    return true;
  }

  /** Paths that are planned. */
  get paths(): string[] {
    return [...this.#changes.keys()];
  }

  /** The text that a path will have: planned, else as it is now. */
  async text(path: string): Promise<string | null> {
    return this.#changes.get(resolve(path))?.after ?? (await this.current(path));
  }

  /** Writes all or nothing; a dry run shows the difference. */
  async write(root: string): Promise<string[]> {
    const { cwd, stdout, dryRun } = this.#place;
    return await writeChanges([...this.#changes.values()], { root, cwd, dryRun, stdout });
  }
}

/** Finishes what a command that was killed has begun in a project. */
export async function finishEarlier(root: string, { dryRun }: ScaffoldPlace): Promise<void> {
  if (!dryRun) await finishPending(root);
}
