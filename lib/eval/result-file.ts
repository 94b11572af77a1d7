import { readFile } from "node:fs/promises";
import { jsonText, writeFileAtomic } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { Fact } from "./facts.ts";
import type { ModelResult, RunResult } from "./observer.ts";
import type { RunPlan } from "./plan.ts";

/** What a run says of episodes that its judge did not come to begins and goes on like this. */
export const NOT_JUDGED = " episodes were not judged: ";

/**
 * Puts results that were computed anew into a run's `result.json`, so that it never says another thing than the episodes.
 * A run without the file has not ended: there is nothing to put right.
 *
 * @param judged whether every episode is judged by now
 */
export async function rewriteResult(
  folder: Pick<RunFolder<RunPlan, Fact>, "path">,
  models: readonly ModelResult[],
  { judged = false } = {},
): Promise<void> {
  const file = folder.path("result.json");
  let before: RunResult;
  try {
    before = JSON.parse(await readFile(file, "utf8")) as RunResult;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const total = (key: "planned" | "carried_out" | "passed" | "failed") =>
    models.reduce((sum, model) => sum + model[key], 0);
  const problems = judged
    ? before.problems.filter((problem) => !problem.includes(NOT_JUDGED))
    : before.problems;
  const mended = before.problems.length > 0 && problems.length === 0;
  const after: RunResult = {
    ...before,
    ...(mended ? { state: "complete", exit_code: 0 } : {}),
    problems,
    planned: total("planned"),
    carried_out: total("carried_out"),
    passed: total("passed"),
    failed: total("failed"),
    models: [...models],
  };
  await writeFileAtomic(file, jsonText(after));
}
