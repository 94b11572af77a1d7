import { readdir, readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import { BatError, messageOf } from "../errors.ts";
import { digestOf } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { Episode } from "./episode.ts";
import { type Fact, type NewFact, type RunState, type SlotKey, slotKey } from "./facts.ts";
import { episodeFile, type RunPlan } from "./plan.ts";

/** Where an episode lies and which slot it is of. */
export interface StoredEpisode {
  key: SlotKey;
  task: number;
  attempt: number;
  /** Relative to the run's folder. */
  file: string;
  episode: Episode;
}

/**
 * The finished episodes of a model in the plan's order, one at a time. Each is held against the digest in the journal:
 * a file that is missing or was altered throws BatError (code `store`), for no total may rest on it.
 */
export async function* storedEpisodes(
  folder: Pick<RunFolder<RunPlan, Fact>, "plan" | "path">,
  state: RunState,
  model: number,
): AsyncGenerator<StoredEpisode> {
  const { plan } = folder;
  for (const task of plan.tasks.keys()) {
    for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
      const key = slotKey(model, task, attempt);
      const finished = state.slot(key).finished;
      if (finished === null) continue;
      const file = episodeFile(plan, model, task, attempt);
      yield { key, task, attempt, file, episode: await readEpisode(folder.path(file), finished.episode) };
    }
  }
}

async function readEpisode(file: string, digest: string): Promise<Episode> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new BatError("store", `Cannot read the episode ${file}: ${messageOf(error)}`, { cause: error });
  }
  if (digestOf(text) !== digest) {
    throw new BatError(
      "store",
      `The episode ${file} is not what the run wrote: its digest differs from the journal's; put it back, or delete it, then \`bat eval resume\` runs its attempt anew`,
    );
  }
  return JSON.parse(text) as Episode;
}

/**
 * Removes what a killed process left half-way: temporary files, and episodes that were put in place but whose fact did
 * not reach the journal. Their attempts are run anew.
 */
export async function removeUnjournalled(folder: RunFolder<RunPlan, Fact>, state: RunState): Promise<void> {
  const { plan } = folder;
  for (const model of plan.models.keys()) {
    const journalled = new Set<string>();
    for (const task of plan.tasks.keys()) {
      for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
        if (state.slot(slotKey(model, task, attempt)).finished === null) continue;
        journalled.add(basename(episodeFile(plan, model, task, attempt)));
      }
    }
    const directory = folder.path(plan.models[model]!.folder, "episodes");
    for (const name of await readdir(directory).catch(() => [] as string[])) {
      if (!journalled.has(name)) await rm(`${directory}/${name}`, { force: true, recursive: true });
    }
  }
}

/**
 * Opens again what the journal says is finished but whose episode is gone from disk: nothing could be told of it, so
 * its attempt is run anew. One that was altered stays and is refused when it is read.
 *
 * @returns how many there were
 */
export async function reopenLost(folder: RunFolder<RunPlan, Fact>, state: RunState): Promise<number> {
  const { plan } = folder;
  let lost = 0;
  for (const model of plan.models.keys()) {
    const directory = folder.path(plan.models[model]!.folder, "episodes");
    const there = new Set(await readdir(directory).catch(() => [] as string[]));
    for (const task of plan.tasks.keys()) {
      for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
        const slot = slotKey(model, task, attempt);
        const name = basename(episodeFile(plan, model, task, attempt));
        if (state.slot(slot).finished === null || there.has(name)) continue;
        const fact: NewFact = { fact: "attempt-lost", slot };
        state.apply(fact);
        await folder.record(fact);
        lost += 1;
      }
    }
  }
  return lost;
}
