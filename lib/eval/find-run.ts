import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { BatError } from "../errors.ts";
import { didYouMean } from "../text/nearest.ts";
import { findTarget } from "./target.ts";

/**
 * The folder of a run: a path, a name in the output folder of the agent we are at, or the newest there.
 *
 * @throws BatError (code `usage`) that lists the runs there are
 */
export async function findRun(
  run: string | undefined,
  agent: string | undefined,
  cwd: string,
): Promise<string> {
  if (run !== undefined && (await isRun(resolve(cwd, run)))) return resolve(cwd, run);
  const output = await outputFolder(cwd, agent);
  const runs = await runsIn(output);
  const place = relative(cwd, output) || output;
  if (run === undefined) {
    const newest = runs[runs.length - 1];
    if (newest === undefined)
      throw new BatError("usage", `There is no run in "${place}"; start one with \`bat eval run\``);
    return join(output, newest);
  }
  if (runs.includes(run)) return join(output, run);
  const known =
    runs.length === 0
      ? "; there is none"
      : didYouMean(run, runs) || `; there are ${runs.slice(-10).join(", ")}`;
  throw new BatError("usage", `No run "${run}" in "${place}"${known}`);
}

async function outputFolder(cwd: string, agent: string | undefined): Promise<string> {
  const { dir, config } = await findTarget({ cwd, agent });
  return resolve(dir, config.outputDir);
}

async function runsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const runs: { name: string; at: string }[] = [];
  for (const name of names.sort()) {
    if (await isRun(join(folder, name))) runs.push({ name, at: await createdAt(join(folder, name)) });
  }
  return runs.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ name }) => name);
}

/** By its plan, for a run's folder may have been given another name. One without a time is older than all others. */
async function createdAt(folder: string): Promise<string> {
  try {
    const { created_at: at } = JSON.parse(await readFile(join(folder, "run.json"), "utf8")) as {
      created_at?: unknown;
    };
    return typeof at === "string" ? at : "";
  } catch {
    return "";
  }
}

async function isRun(folder: string): Promise<boolean> {
  return (await stat(join(folder, "run.json")).catch(() => null))?.isFile() ?? false;
}
