import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import * as v from "valibot";
import { BatError } from "../errors.ts";
import { syncFolder } from "../store/atomic.ts";

/** A file that waits to be put in its place. Absolute paths. */
export interface Pending {
  target: string;
  temporary: string;
  backup: string | null;
}

const NAME = ".bat-pending.json";

const schema = v.array(
  v.object({ target: v.string(), temporary: v.string(), backup: v.nullable(v.string()) }),
);

/** Notes what is to be put in place, in one step: from here on the new state is the one that counts. */
export async function writePending(root: string, pending: readonly Pending[]): Promise<void> {
  const local = (path: string) => relative(root, path);
  const rows = pending.map(({ target, temporary, backup }) => ({
    target: local(target),
    temporary: local(temporary),
    backup: backup === null ? null : local(backup),
  }));
  const file = join(root, NAME);
  {
    await using handle = await open(`${file}.${process.pid}`, "wx");
    await handle.writeFile(JSON.stringify(rows));
    await handle.sync();
  }
  await rename(`${file}.${process.pid}`, file);
  await syncFolder(root);
}

/** Ends the note. */
export async function removePending(root: string): Promise<void> {
  await rm(join(root, NAME), { force: true });
}

/**
 * Finishes a writing of several files that was killed after all new contents were on disk. Every command that writes
 * into a project calls it, `writeChanges` by itself.
 *
 * @returns whether there was one
 * @throws BatError (code `config`) when the note is not one of ours
 */
export async function finishPending(root: string): Promise<boolean> {
  const file = join(root, NAME);
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return false;
  for (const { target, temporary, backup } of readNote(text, file)) {
    const from = resolve(root, temporary);
    const exists = (await stat(from).catch(() => null)) !== null;
    // Where it is gone, it was put in place before the end came.
    if (exists) await rename(from, resolve(root, target));
    if (backup !== null) await rm(resolve(root, backup), { force: true });
    await syncFolder(dirname(resolve(root, target)));
  }
  await removePending(root);
  return true;
}

/** The note names only files that lie beside their targets and have names of ours: a foreign one moves nothing. */
function readNote(text: string, file: string): Pending[] {
  let note: Pending[] | null = null;
  try {
    note = v.parse(schema, JSON.parse(text));
  } catch {
    // Told below.
  }
  const ours = (target: string, path: string | null) =>
    path === null || (dirname(path) === dirname(target) && /\.bat-\d+-\d+\.(?:new|old)$/.test(path));
  if (
    note?.every(({ target, temporary, backup }) => ours(target, temporary) && ours(target, backup)) !== true
  ) {
    throw new BatError(
      "config",
      `Cannot read ${file}, which notes an unfinished writing; look at it and delete it`,
    );
  }
  return note;
}
