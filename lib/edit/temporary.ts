import { open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Names of files that a writing makes beside those of the user's, with the process that made them. */
const OURS = /^\..*\.bat-(\d+)-\d+\.(?:new|old)$/;

let counter = 0;
const made = new Set<string>();

/** A name in the same folder for what is to take the place of a file (`new`), or was in it (`old`). */
export function temporaryFor(file: string, kind: "new" | "old" = "new"): string {
  counter += 1;
  const path = join(dirname(file), `.${basename(file).slice(0, 60)}.bat-${process.pid}-${counter}.${kind}`);
  made.add(path);
  return path;
}

/** The process that made a file with a name of ours; null for another's file. */
export function ownerOf(path: string): number | null {
  const pid = OURS.exec(basename(path))?.[1];
  return pid === undefined ? null : Number(pid);
}

/** Takes away what a process that was killed has left in a folder. */
export async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = ownerOf(name);
    const path = join(folder, name);
    // In a container every process may have the same number.
    if (pid !== null && (pid === process.pid ? !made.has(path) : !isAlive(pid))) await discard(path);
  }
}

/** Whether there is a process of that number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Writes a file that must not be there yet, down to the disk. */
export async function writeSynced(path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  await using handle = await open(path, "wx", mode);
  await handle.writeFile(content);
  await handle.sync();
}

/** Deletes files; what cannot be deleted stays. */
export async function discard(...paths: readonly (string | null)[]): Promise<void> {
  for (const path of paths) if (path !== null) await rm(path, { force: true }).catch(() => {});
}
