import { link, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import * as v from "valibot";
import { BatError, messageOf } from "../errors.ts";
import { syncFolder } from "../store/atomic.ts";
import { discard, isAlive, ownerOf, sweep, temporaryFor, writeSynced } from "./temporary.ts";

/** A file that waits to be put in its place. Absolute paths. */
export interface Pending {
  target: string;
  temporary: string;
  backup: string | null;
}

/** Which way an unfinished writing is to be ended. */
type Way = "forward" | "back";

const NAME = ".bat-pending.json";

const schema = v.object({
  way: v.picklist(["forward", "back"]),
  files: v.array(v.object({ target: v.string(), temporary: v.string(), backup: v.nullable(v.string()) })),
});

/**
 * Notes what is to be put in place, in one step: from here on the new state is the one that counts.
 *
 * @returns the note for the way back, which waits beside it: to turn round takes no space on the disk
 * @throws BatError (code `config`) when another process writes in this project
 */
export async function writePending(root: string, pending: readonly Pending[]): Promise<string> {
  await sweep(root);
  const file = join(root, NAME);
  const [forward, back] = [temporaryFor(file), temporaryFor(file, "old")];
  try {
    await writeSynced(back, noteText(root, "back", pending));
    await writeSynced(forward, noteText(root, "forward", pending));
    await linkNew(forward, file);
  } catch (error) {
    await discard(back);
    throw error;
  } finally {
    await discard(forward);
  }
  await syncFolder(root).catch(() => {});
  return back;
}

/** Gives a file its name if nothing has it yet: of two processes one comes first. */
async function linkNew(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    // Some file systems have no links.
    if (["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"].includes(code)) await rename(temporary, file);
    else if (code !== "EEXIST") throw error;
    else
      throw new BatError(
        "config",
        `Another bat is writing in "${dirname(file)}". All files are as they were; try again`,
        { cause: error },
      );
  }
}

/** Turns the note round, from where on the old state is the one that counts, and takes back what is in place. */
export async function turnBack(root: string, pending: readonly Pending[], back: string): Promise<void> {
  await rename(back, join(root, NAME));
  await takeBack(pending);
  await endPending(root, pending, back);
}

function noteText(root: string, way: Way, pending: readonly Pending[]): string {
  const local = (path: string) => relative(root, path);
  const files = pending.map(({ target, temporary, backup }) => ({
    target: local(target),
    temporary: local(temporary),
    backup: backup === null ? null : local(backup),
  }));
  return JSON.stringify({ way, files });
}

/** Ends the note, then takes away what only it was there for. */
export async function endPending(
  root: string,
  pending: readonly Pending[],
  back: string | null,
): Promise<void> {
  await rm(join(root, NAME), { force: true });
  await discard(back, ...pending.flatMap(({ temporary, backup }) => [temporary, backup]));
}

/**
 * Finishes a writing of several files that was killed after all new contents were on disk, or takes it back where that
 * was begun or it cannot be finished. Every command that writes into a project calls it before it reads, `writeChanges` by itself.
 *
 * @returns whether there was one
 * @throws BatError (code `config`) when the note is not one of ours, when its writer still runs, and when it cannot be
 *   finished
 */
export async function finishPending(root: string): Promise<boolean> {
  const file = join(root, NAME);
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return false;
  const { way, files } = readNote(text, file);
  const writer = files[0] === undefined ? null : ownerOf(files[0].temporary);
  if (writer !== null && writer !== process.pid && isAlive(writer))
    throw new BatError("config", `Another bat (process ${writer}) is writing in "${root}"; try again`);
  const pending = files.map(({ target, temporary, backup }) => ({
    target: resolve(root, target),
    temporary: resolve(root, temporary),
    backup: backup === null ? null : resolve(root, backup),
  }));
  try {
    if (way === "back") await takeBack(pending);
    else await putForward(root, pending);
    await endPending(root, pending, null);
    await sweep(root);
  } catch (error) {
    const names = files.map(({ target }) => target).join(", ");
    throw new BatError(
      "config",
      `An earlier writing of ${names} in "${root}" was killed and cannot be finished: ${messageOf(error)}. Some of these files are new and some old; mend that and run any command that writes`,
      { cause: error },
    );
  }
  return true;
}

/** Steps that may be done twice: where the new content is gone, it was put in place before the end came. */
async function putForward(root: string, pending: readonly Pending[]): Promise<void> {
  try {
    for (const { target, temporary } of pending) if (await exists(temporary)) await rename(temporary, target);
    await syncFolders(pending);
  } catch {
    const back = temporaryFor(join(root, NAME), "old");
    await writeSynced(back, noteText(root, "back", pending));
    await turnBack(root, pending, back);
  }
}

/** The same the other way; where the new content still waits, the old one is in its place. */
async function takeBack(pending: readonly Pending[]): Promise<void> {
  for (const { target, temporary, backup } of pending) {
    const waits = await exists(temporary);
    if (waits) continue;
    if (backup === null) await rm(target, { force: true });
    else if (await exists(backup)) await rename(backup, target);
  }
  await syncFolders(pending);
}

/** Makes the renames survive a power loss, as far as the disk and folders that are still there allow it. */
export async function syncFolders(pending: readonly Pending[]): Promise<void> {
  for (const folder of new Set(pending.map(({ target }) => dirname(target))))
    await syncFolder(folder).catch(() => {});
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** The note names only files that lie beside their targets and have names of ours: a foreign one moves nothing. */
function readNote(text: string, file: string): v.InferOutput<typeof schema> {
  let note: v.InferOutput<typeof schema> | null = null;
  try {
    note = v.parse(schema, JSON.parse(text));
  } catch {
    // Told below.
  }
  const ours = (target: string, path: string | null) =>
    path === null || (dirname(path) === dirname(target) && ownerOf(path) !== null);
  const all = note?.files.every(
    ({ target, temporary, backup }) => ours(target, temporary) && ours(target, backup),
  );
  if (note !== null && all === true) return note;
  throw new BatError(
    "config",
    `Cannot read ${file}, which notes an unfinished writing; look at it and delete it`,
  );
}
