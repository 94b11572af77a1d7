import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import type { CheckPlugin } from "../plugin/define.ts";
import { type Loaded, loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { parseJson } from "../text/json.ts";
import type { Episode } from "./episode.ts";
import { decide, type Expected } from "./verdict.ts";

const golden = new URL("../../fixtures/golden/", import.meta.url);
const read = async (path: string) => parseJson(await readFile(new URL(path, golden), "utf8")) as unknown;

let checks: Loaded<CheckPlugin>[] = [];
before(async () => {
  checks = await loadPlugins("checks", pluginSources());
});

test("every recorded verdict comes out equal", async () => {
  const cases = (await read("verdict/cases.json")) as {
    episode: string;
    expected: Expected;
    verdict: { passed: boolean; reason: string };
  }[];
  assert.ok(cases.length >= 100);
  for (const [i, { episode, expected, verdict }] of cases.entries()) {
    const { final_status, final_output, trace } = (await read(episode)) as Episode;
    const decided = { status: final_status, output: final_output, trajectory: trace.trajectory };
    const { passed, reason } = decide({ status: "completed", ...withDefaults(expected) }, decided, checks);
    assert.deepEqual({ passed, reason }, verdict, `case ${i}: ${episode}`);
  }
});

/** As the loader of tasks gives them. */
function withDefaults(expected: Expected): Expected {
  const calls = (list: unknown) =>
    (list as object[] | undefined)?.map((call) => ({ args_subset: {}, times: 1, ...call }));
  return {
    ...expected,
    ...(expected.tool_calls === undefined ? {} : { tool_calls: calls(expected.tool_calls) }),
    ...(expected.agent_calls === undefined ? {} : { agent_calls: calls(expected.agent_calls) }),
  };
}
