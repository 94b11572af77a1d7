import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { currentIdentity, isAlive, type ProcessIdentity } from "../agent/identity.ts";
import { BatError } from "../errors.ts";

interface Holder extends ProcessIdentity {
  host: string;
  released?: boolean;
}

/** A folder held by one writer. Ends with `await using`, or with the process that holds it. */
export interface Lock extends AsyncDisposable {
  readonly folder: string;
}

/**
 * Takes the lock of a folder, or throws with the holder named.
 *
 * Locks are numbered files in `.lock/`; the holder is the highest. A new one is made with `link`, which fails if the
 * number exists, so of two that take over from a dead holder one wins, whatever the timing; numbers never go back.
 */
export async function acquireLock(folder: string): Promise<Lock> {
  const place = join(folder, ".lock");
  await mkdir(place, { recursive: true });
  const me: Holder = { ...(await currentIdentity()), host: hostname() };
  for (let tries = 0; tries < 100; tries += 1) {
    const highest = await highestNumber(place);
    if (highest > 0) await refuseIfHeld(folder, join(place, `${highest}.json`));
    const mine = join(place, `${highest + 1}.json`);
    if (!(await createExclusive(mine, me))) continue;
    if ((await highestNumber(place)) !== highest + 1) {
      await rm(mine, { force: true });
      continue;
    }
    await removeBelow(place, highest + 1);
    return {
      folder,
      async [Symbol.asyncDispose]() {
        await writeFile(mine, JSON.stringify({ ...me, released: true })).catch(() => {});
      },
    };
  }
  throw new BatError("store", `Cannot lock "${folder}": other processes keep taking it`);
}

async function highestNumber(place: string): Promise<number> {
  const numbers = (await readdir(place))
    .map((name) => /^(\d+)\.json$/.exec(name)?.[1])
    .filter((n) => n !== undefined);
  return Math.max(0, ...numbers.map(Number));
}

async function refuseIfHeld(folder: string, file: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder === null || holder.released === true) return;
  const elsewhere = holder.host !== hostname();
  if (!elsewhere && !(await isAlive(holder))) return;
  const where = elsewhere ? ` on host "${holder.host}"` : "";
  const cure = elsewhere ? `; if that process is gone, delete "${file}"` : "; wait for it or stop it";
  throw new BatError("store", `"${folder}" is being written by process ${holder.pid}${where}${cure}`);
}

async function readHolder(file: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Holder;
  } catch (error) {
    // Removed by its successor, or released in this moment: nobody holds it.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Appears whole or not at all, and only if the name is free. */
async function createExclusive(file: string, holder: Holder): Promise<boolean> {
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(temporary, JSON.stringify(holder));
  try {
    await link(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function removeBelow(place: string, number: number): Promise<void> {
  for (const name of await readdir(place)) {
    const found = /^(\d+)\.json$/.exec(name)?.[1];
    if (found !== undefined && Number(found) < number) await rm(join(place, name), { force: true });
  }
}
