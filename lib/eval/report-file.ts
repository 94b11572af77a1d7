import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { BatError, messageOf } from "../errors.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { AtomicFile } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { Fact, RunState } from "./facts.ts";
import { storedEpisodes } from "./fold.ts";
import type { RunResult } from "./observer.ts";
import type { RunPlan } from "./plan.ts";
import type { PreparedRun } from "./prepare.ts";

/**
 * Makes sure, before hours are spent on a run, that its report can be put there: makes the folder it goes to.
 *
 * @throws BatError `usage`, naming the flag, where it cannot
 */
export async function prepareReport(flag: string, file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory() === true)
    throw new BatError("usage", `${flag}: "${file}" is a folder, a file's name is wanted`);
  try {
    await mkdir(dirname(file), { recursive: true });
    await access(dirname(file), constants.W_OK);
  } catch (error) {
    throw new BatError("usage", `${flag}: Cannot write to "${dirname(file)}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Writes a finished run's report with the reporter of that id; the file appears whole or not at all. */
export async function writeReport(
  id: string,
  file: string,
  run: { folder: RunFolder<RunPlan, Fact>; state: RunState; result: RunResult; prepared: PreparedRun },
): Promise<void> {
  const { folder, state, result, prepared } = run;
  const { dir, config } = prepared.target;
  const reporters = await loadPlugins("reporters", pluginSources({ projectDir: dir, packs: config.plugins }));
  const reporter = reporters.find((one) => one.id === id)!.definition;
  await using report = await AtomicFile.create(file);
  const episodes = (model: number) => storedEpisodes(folder, state, model);
  for await (const text of reporter.report({ id: folder.plan.id, result, episodes }))
    await report.write(text);
  await report.commit();
}
