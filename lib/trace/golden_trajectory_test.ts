import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import type { NamedConvention } from "./record.ts";
import { renderTrajectory } from "./render.ts";
import { SpanIndex } from "./span-index.ts";

const golden = fileURLToPath(new URL("../../fixtures/golden/trajectory/", import.meta.url));
const read = (path: string) => readFileSync(golden + path, "utf8");

/** Where the reference is known to be wrong; `fixtures/golden/DIFFERENCES.md` says what is right instead. */
const DIFFERENT = new Set(["unicode-separators-in-a-line", "times-closer-than-a-microsecond"]);

let conventions: NamedConvention[] = [];
before(async () => {
  conventions = await loadPlugins("conventions", pluginSources());
});

for (const name of readdirSync(golden)) {
  const different = DIFFERENT.has(name);
  test(`${name}: the trajectory is ${different ? "built" : "the reference's, and so is its rendering"}`, async () => {
    const { conversation, turns } = JSON.parse(read(`${name}/case.json`)) as {
      conversation: string;
      turns: string[];
    };
    const index = new SpanIndex([`${golden}${name}/spans`], conventions);
    await index.readAll();
    const { trajectory, toolCalls } = index.trajectory({ conversation, turns });
    index.close();
    if (different) {
      assert.equal(trajectory.found, true);
      return;
    }
    assert.deepEqual(
      JSON.parse(JSON.stringify({ trajectory, tool_calls: toolCalls })),
      JSON.parse(read(`${name}/expected.json`)),
    );
    for (const file of readdirSync(golden + name)) {
      const limit = /^rendered-(\d+)\.txt$/.exec(file)?.[1];
      if (limit === undefined) continue;
      assert.equal(renderTrajectory(trajectory, Number(limit)), read(`${name}/${file}`), file);
    }
  });
}
