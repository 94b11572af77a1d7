import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Writable } from "node:stream";
import { BatError, messageOf } from "../errors.ts";
import { syncFolder } from "../store/atomic.ts";
import { unifiedDiff } from "./diff.ts";
import { finishPending, type Pending, removePending, writePending } from "./pending.ts";

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
 * @throws BatError (code `config`) that says what stopped it and that all is as it was
 */
export async function writeChanges(changes: readonly FileChange[], options: WriteOptions): Promise<string[]> {
  const { root, cwd, dryRun, stdout } = options;
  const real = changes.filter(({ before, after }) => before !== after);
  const shown = (path: string) => relative(cwd, path) || path;
  if (dryRun === true) {
    for (const { path, before, after } of real) stdout.write(unifiedDiff(shown(path), before, after));
    return real.map(({ path }) => shown(path));
  }
  if (real.length === 0) return [];
  await finishPending(root);
  const made: string[] = [];
  const ready: Prepared[] = [];
  try {
    const several = real.length > 1;
    for (const change of real) ready.push(await prepare(change, shown(change.path), made, several));
    await putInPlace(ready, root);
  } catch (error) {
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

/** A change whose content is on disk. */
interface Prepared {
  target: string;
  temporary: string;
  /** What was there, until all are in place; null for a new file and where there is one file only. */
  backup: string | null;
  shown: string;
}

let counter = 0;

async function prepare(
  change: FileChange,
  shown: string,
  made: string[],
  several: boolean,
): Promise<Prepared> {
  const target = await targetOf(change, shown, made);
  counter += 1;
  const stem = join(dirname(target), `.${basename(target).slice(0, 100)}.bat-${process.pid}-${counter}`);
  await sweep(dirname(target));
  const [temporary, backup] = [`${stem}.new`, several && change.before !== null ? `${stem}.old` : null];
  const old = change.before === null ? null : await stat(target);
  try {
    await writeSynced(temporary, change.after, old === null ? (change.mode ?? 0o666) : old.mode & 0o7777);
    if (old !== null) {
      await chmod(temporary, old.mode & 0o7777);
      await chown(temporary, old.uid, old.gid).catch(() => {});
    }
    if (backup !== null) await writeSynced(backup, await readFile(target), old!.mode & 0o7777);
  } catch (error) {
    await discard(temporary, backup);
    throw error;
  }
  return { target, temporary, backup, shown };
}

/** Takes away what a process that was killed has left beside a file. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^\..*\.bat-(\d+)-\d+\.(?:new|old)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await discard(join(folder, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The file itself behind links, after a look whether it is what it was when it was read. */
async function targetOf({ path, before }: FileChange, shown: string, made: string[]): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (before === null) {
    if (found !== null)
      throw new BatError(
        "config",
        `Cannot write ${shown}: there is something of that name by now. All files are as they were`,
      );
    await makeFolders(dirname(path), made);
    return path;
  }
  const target = await realpath(path);
  if (!(await stat(target)).isFile())
    throw new BatError("config", `Cannot write ${shown}: it is no file. All files are as they were`);
  if ((await readFile(target, "utf8")) !== before) {
    throw new BatError(
      "config",
      `Cannot write ${shown}: it was changed meanwhile. All files are as they were; try again`,
    );
  }
  return target;
}

async function makeFolders(folder: string, made: string[]): Promise<void> {
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return;
  await makeFolders(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await using handle = await open(path, "wx", mode);
  await handle.writeFile(content);
  await handle.sync();
}

async function discard(...paths: readonly (string | null)[]): Promise<void> {
  for (const path of paths) if (path !== null) await rm(path, { force: true }).catch(() => {});
}

/** One file is one rename. Several are noted first; when one fails, those before it are taken back. */
async function putInPlace(ready: readonly Prepared[], root: string): Promise<void> {
  const pending: Pending[] = ready.map(({ target, temporary, backup }) => ({ target, temporary, backup }));
  const several = ready.length > 1;
  if (several) await writePending(root, pending);
  const done: Prepared[] = [];
  try {
    for (const change of ready) {
      await rename(change.temporary, change.target);
      done.push(change);
    }
  } catch (error) {
    for (const { target, backup } of done.reverse()) {
      if (backup === null) await rm(target, { force: true });
      else await rename(backup, target);
    }
    if (several) await removePending(root);
    throw error;
  }
  for (const folder of new Set(ready.map(({ target }) => dirname(target)))) await syncFolder(folder);
  if (several) await removePending(root);
  for (const { backup } of ready) await discard(backup);
}
