import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import type { RunFolder } from "../store/run-folder.ts";
import type { Fact, RunState, SlotKey } from "./facts.ts";
import { slotKey } from "./facts.ts";
import type { ModelResult } from "./observer.ts";
import { episodeFile, type RunPlan } from "./plan.ts";

/** How many slots of a model are in which state. */
export interface SlotCount {
  carriedOut: number;
  notCarriedOut: number;
  open: number;
}

export function countSlots(plan: RunPlan, state: RunState, model: number): SlotCount {
  const count: SlotCount = { carriedOut: 0, notCarriedOut: 0, open: 0 };
  for (const task of plan.tasks.keys()) {
    for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
      const outcome = state.slot(slotKey(model, task, attempt)).finished?.outcome;
      if (outcome === "carried-out") count.carriedOut += 1;
      else if (outcome === "not-carried-out") count.notCarriedOut += 1;
      else count.open += 1;
    }
  }
  return count;
}

/**
 * Checks that nothing was lost or counted twice: each planned model × task × attempt ended exactly once or is said to be
 * open, what the journal knows is what lies on disk, and totals are the sums of their parts.
 *
 * @returns each difference in a sentence; none when all balances
 */
export async function checkConservation(
  folder: RunFolder<RunPlan, Fact>,
  state: RunState,
  results: readonly ModelResult[],
): Promise<string[]> {
  const { plan } = folder;
  const differences = [...state.contradictions, ...strangers(plan, state)];
  for (const [model, result] of results.entries()) {
    const count = countSlots(plan, state, model);
    const planned = plan.tasks.length * plan.settings.k;
    const say = (what: string, found: number, expected: number) => {
      if (found !== expected) differences.push(`${result.model}: ${what}: ${found}, expected ${expected}`);
    };
    say("attempts planned", result.planned, planned);
    say("attempts carried out in the results", result.carried_out, count.carriedOut);
    say("passed and failed", result.passed + result.failed, count.carriedOut);
    say("carried out over all tasks", sum(result, "carried_out"), result.carried_out);
    say("passed over all tasks", sum(result, "passed"), result.passed);
    say("failed over all tasks", sum(result, "failed"), result.failed);
    differences.push(...(await fileDifferences(folder, state, model)));
  }
  return differences;
}

function sum(result: ModelResult, key: "carried_out" | "passed" | "failed"): number {
  return result.tasks.reduce((total, task) => total + task[key], 0);
}

/** Slots in the journal that the plan does not have, and what is no slot at all in one that was damaged. */
function strangers(plan: RunPlan, state: RunState): string[] {
  const differences: string[] = [];
  for (const key of state.keys()) {
    const [model = -1, task = -1, attempt = -1] = String(key).split("/").map(Number);
    const planned = model < plan.models.length && task < plan.tasks.length && attempt < plan.settings.k;
    if (!planned) differences.push(`the journal has an attempt that was not planned: ${key}`);
  }
  return differences;
}

async function fileDifferences(
  folder: RunFolder<RunPlan, Fact>,
  state: RunState,
  model: number,
): Promise<string[]> {
  const { plan } = folder;
  const expected = new Set<string>();
  for (const task of plan.tasks.keys()) {
    for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
      const key: SlotKey = slotKey(model, task, attempt);
      if (state.slot(key).finished !== null) expected.add(basename(episodeFile(plan, model, task, attempt)));
    }
  }
  const directory = `${plan.models[model]!.folder}/episodes`;
  const found = await readdir(folder.path(directory)).catch(() => [] as string[]);
  const differences: string[] = [];
  for (const name of found) {
    // An attempt that was in flight when the run was killed may have left its file without the fact.
    if (!expected.delete(name) && name.endsWith(".json") && !name.startsWith(".")) {
      differences.push(`${directory}/${name} is in no journal`);
    }
  }
  for (const name of expected) differences.push(`${directory}/${name} is in the journal but not on disk`);
  return differences;
}
