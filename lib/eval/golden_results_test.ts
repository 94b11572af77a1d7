import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { digestOf } from "../store/atomic.ts";
import type { Episode } from "./episode.ts";
import { type Fact, RunState, slotKey } from "./facts.ts";
import { episodeFile, plannedTasks, type RunPlan } from "./plan.ts";
import { modelResult } from "./results.ts";

const golden = fileURLToPath(new URL("../../fixtures/golden/runs/", import.meta.url));
const json = (file: string) => JSON.parse(readFileSync(file, "utf8")) as never;

let place = "";
before(() => {
  place = mkdtempSync(join(tmpdir(), "bat-results-"));
});
after(() => rmSync(place, { recursive: true, force: true }));

for (const name of readdirSync(golden)) {
  test(`${name}: summary and metrics come out of the episodes as the reference made them`, async () => {
    const output = `${golden}${name}/output`;
    const [folder = ""] = readdirSync(output);
    const summary = json(`${output}/${folder}/summary.json`) as Summary;
    const tasks = (json(`${golden}${name}/tasks.json`) as { id: string; turns: string[] }[]).map(
      ({ id, turns }) => ({
        id,
        turns,
        expected: {},
        meta: {},
      }),
    );
    const plan = {
      settings: { k: summary.k, run_name: summary.run_name },
      models: [
        { name: `openai:${summary.model_name}`, provider: "openai", model: summary.model_name, folder },
      ],
      tasks: plannedTasks(tasks),
    } as unknown as RunPlan;
    const run = join(place, name);
    mkdirSync(join(run, folder, "episodes"), { recursive: true });
    const facts: Fact[] = [];
    for (const [task, { id }] of plan.tasks.entries()) {
      for (let attempt = 0; attempt < summary.k; attempt += 1) {
        const file = episodeFile(plan, 0, task, attempt);
        copyFileSync(`${output}/${file}`, join(run, file));
        const text = readFileSync(join(run, file), "utf8");
        assert.equal((JSON.parse(text) as Episode).task_id, id, "file names are the reference's");
        const slot = slotKey(0, task, attempt);
        facts.push({
          at: "",
          fact: "attempt-finished",
          slot,
          episode: digestOf(text),
          outcome: "carried-out",
          tokens: 0,
        });
      }
    }
    const paths = { plan, path: (...parts: string[]) => join(run, ...parts) };
    const result = await modelResult(paths, new RunState(facts), 0, () => new Date());
    assert.equal(result.passed, summary.passed);
    const ours = json(join(run, folder, "summary.json")) as Summary;
    assert.deepEqual(sameKeys({ ...ours, timestamp_utc: summary.timestamp_utc }, summary), summary);
    const metrics = json(`${output}/${folder}/metrics.json`) as object;
    assert.deepEqual(sameKeys(json(join(run, folder, "metrics.json")), metrics), metrics);
  });
}

interface Summary {
  run_name: string;
  timestamp_utc: string;
  k: number;
  model_name: string;
  passed: number;
}

/** Only what the reference has too, in its order; what is beside it is ours. */
function sameKeys(actual: unknown, like: unknown): unknown {
  if (Array.isArray(like)) return (actual as unknown[]).map((item, i) => sameKeys(item, like[i]));
  if (typeof like !== "object" || like === null) return actual;
  return Object.fromEntries(
    Object.keys(like).map((key) => [
      key,
      sameKeys((actual as Record<string, unknown>)[key], (like as Record<string, unknown>)[key]),
    ]),
  );
}
