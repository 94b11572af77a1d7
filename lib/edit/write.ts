import { constants } from "node:fs";
import {
  access,
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  realpath,
  rename,
  rmdir,
  stat,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Writable } from "node:stream";
import { BatError, messageOf } from "../errors.ts";
import { endPending, finishPending, type Pending, syncFolders, turnBack, writePending } from "./pending.ts";
import { discard, sweep, temporaryFor, writeSynced } from "./temporary.ts";

/** A file as it is to be. */
export interface FileChange {
  /** Absolute. */
  path: string;
  /** What was read and the change was made from; null for a file that is new. */
  before: string | null;
  after: string;
  /** Permissions of a new file, for example 0o755; an old one keeps its own. */
  mode?: number;
}

/** Where changes are made and told. */
export interface WriteOptions {
  /** Folder of the project: where an unfinished writing is noted, so that the next one finishes it. */
  root: string;
  /** Names in messages are relative to it. */
  cwd: string;
  dryRun?: boolean | undefined;
  /** Where a dry run's difference goes. */
  stdout: Writable;
}

/**
 * Writes files of the user's so that all are as they were or all are as they are to be, or with `dryRun` shows the
 * difference and writes nothing. Unchanged files are left alone. Links are followed, permissions kept. All contents
 * are on disk before the first file is put in its place; a writing that was killed in between is finished by the next
 * one (`finishPending`), and what fails in between is taken back.
 *
 * @returns names of the files that were, or would be, changed
 * @throws BatError (code `config`) that says what stopped it and in which state the files are
 */
export async function writeChanges(changes: readonly FileChange[], options: WriteOptions): Promise<string[]> {
  const { root, cwd, dryRun, stdout } = options;
  const real = changes.filter(({ before, after }) => before !== after);
  const shown = (path: string) => relative(cwd, path) || path;
  if (dryRun === true) {
    const { unifiedDiff } = await import("./diff.ts");
    for (const { path, before, after } of real) stdout.write(unifiedDiff(shown(path), before, after));
    return real.map(({ path }) => shown(path));
  }
  if (real.length === 0) return [];
  const finished = await finishPending(root);
  const made: string[] = [];
  const ready: Prepared[] = [];
  try {
    const several = real.length > 1;
    const targets: string[] = [];
    for (const change of real) targets.push(await targetOf(change, shown(change.path), made, finished));
    for (const folder of new Set(targets.map((target) => dirname(target)))) await sweep(folder);
    // The disk takes them side by side; what went well of those beside one that did not is taken away again.
    const prepared = await Promise.allSettled(real.map((change, i) => prepare(change, targets[i]!, several)));
    for (const one of prepared) if (one.status === "fulfilled") ready.push(one.value);
    for (const one of prepared) if (one.status === "rejected") throw one.reason;
    await putInPlace(ready, root);
  } catch (error) {
    if (error instanceof Unfinished)
      throw new BatError("config", `${error.message} ${stateOf(ready, cwd)}`, { cause: error });
    for (const { temporary, backup } of ready) await discard(temporary, backup);
    for (const folder of made.reverse()) await rmdir(folder).catch(() => {});
    if (error instanceof BatError) throw error;
    const names = real.map(({ path }) => shown(path)).join(", ");
    throw new BatError("config", `Cannot write ${names}: ${messageOf(error)}. All files are as they were`, {
      cause: error,
    });
  }
  return real.map(({ path }) => shown(path));
}

/** A change whose content is on disk. The old content is kept until all are in place. */
type Prepared = Pending;

/** What failed could not be taken back either. */
class Unfinished extends Error {}

function stateOf(ready: readonly Prepared[], cwd: string): string {
  const names = ready.map(({ target }) => relative(cwd, target)).join(", ");
  return `Some of ${names} may be new and some old; the next command of bat that writes in this project makes all of them one or the other`;
}

async function prepare(change: FileChange, target: string, several: boolean): Promise<Prepared> {
  const temporary = temporaryFor(target);
  const backup = several && change.before !== null ? temporaryFor(target, "old") : null;
  const old = change.before === null ? null : await stat(target);
  try {
    await writeSynced(temporary, change.after, old === null ? (change.mode ?? 0o666) : old.mode & 0o7777);
    if (old !== null) {
      await chmod(temporary, old.mode & 0o7777);
      await chown(temporary, old.uid, old.gid).catch(() => {});
    }
    if (backup !== null) {
      await writeSynced(backup, await readFile(target), old!.mode & 0o7777);
      await chmod(backup, old!.mode & 0o7777);
      await chown(backup, old!.uid, old!.gid).catch(() => {});
    }
  } catch (error) {
    await discard(temporary, backup);
    throw error;
  }
  return { target, temporary, backup };
}

/**
 * The file itself behind links, after a look whether it is what it was when it was read.
 *
 * @param finished whether an earlier writing was finished after it was read
 */
async function targetOf(
  { path, before }: FileChange,
  shown: string,
  made: string[],
  finished: boolean,
): Promise<string> {
  const refuse = (why: string) => new BatError("config", `Cannot write ${shown}: ${why}`);
  const asTheyWere = finished
    ? "An earlier writing that was killed is ended now; look at the files and try again"
    : "All files are as they were";
  if (before === null) {
    if ((await lstat(path).catch(() => null)) !== null)
      throw refuse(`there is something of that name by now. ${asTheyWere}`);
    await makeFolders(dirname(path), made);
    return join(await realpath(dirname(path)), basename(path));
  }
  const target = await realpath(path);
  if (!(await stat(target)).isFile()) throw refuse(`it is no file. ${asTheyWere}`);
  await access(target, constants.W_OK);
  if ((await readFile(target, "utf8")) !== before)
    throw refuse(`it was changed meanwhile. ${asTheyWere}${finished ? "" : "; try again"}`);
  return target;
}

async function makeFolders(folder: string, made: string[]): Promise<void> {
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return;
  await makeFolders(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

/** One file is one rename. Several are noted first; when one fails, those before it are taken back. */
async function putInPlace(ready: readonly Prepared[], root: string): Promise<void> {
  const several = ready.length > 1;
  const back = several ? await writePending(root, ready) : null;
  try {
    for (const { temporary, target } of ready) await rename(temporary, target);
  } catch (error) {
    if (back !== null) await takenBack(ready, root, back, error);
    throw error;
  }
  await syncFolders(ready);
  if (several) await endPending(root, ready, back);
}

async function takenBack(
  ready: readonly Prepared[],
  root: string,
  back: string,
  error: unknown,
): Promise<void> {
  try {
    await turnBack(root, ready, back);
  } catch (second) {
    const why = `${messageOf(error)}, and taking it back failed: ${messageOf(second)}.`;
    throw new Unfinished(`Cannot write: ${why}`, { cause: error });
  }
}
