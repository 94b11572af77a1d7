import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Episode } from "../eval/episode.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import type { NamedConvention } from "./record.ts";
import { SpanIndex } from "./span-index.ts";

const golden = fileURLToPath(new URL("../../fixtures/golden/runs/", import.meta.url));

let conventions: NamedConvention[] = [];
before(async () => {
  conventions = await loadPlugins("conventions", pluginSources());
});

for (const name of readdirSync(golden)) {
  test(`${name}: every episode's trajectory comes out of the run's spans`, async () => {
    const tasks = JSON.parse(readFileSync(`${golden}${name}/tasks.json`, "utf8")) as {
      id: string;
      turns: string[];
    }[];
    const paths = [`${golden}${name}/spans`, `${golden}${name}/spans/extra`];
    const index = new SpanIndex(paths, conventions);
    await index.readAll();
    const files = globSync(`${golden}${name}/output/*/episodes/*.json`);
    assert.ok(files.length > 0);
    for (const file of files) {
      const { task_id, aux, trace, final_output } = JSON.parse(readFileSync(file, "utf8")) as Episode;
      if (final_output.startsWith("<eval error")) continue;
      const turns = tasks.find(({ id }) => id === task_id)!.turns;
      const query = { conversation: `${task_id}__try${aux.attempt_index}`, turns };
      const { trajectory, toolCalls } = index.trajectory(query);
      const actual = JSON.parse(JSON.stringify({ trajectory, tool_calls: toolCalls })) as unknown;
      assert.deepEqual(actual, { trajectory: trace.trajectory, tool_calls: trace.tool_calls }, file);
      index.release(query);
    }
    index.close();
  });
}
