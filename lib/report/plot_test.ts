import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pluginSources } from "../plugin/sources.ts";
import { plotFolder } from "./plot.ts";

const judged = fileURLToPath(new URL("../../fixtures/golden/runs/desk-judged/output/", import.meta.url));
const { signal } = new AbortController();

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-plot-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function models(name: string, count: number, score: (i: number) => number | null): string {
  const place = join(folder, name);
  for (let i = 0; i < count; i += 1) {
    const model = join(place, `bench_provider-model-with-a-rather-long-name-${String(i).padStart(2, "0")}`);
    mkdirSync(model, { recursive: true });
    const per_episode = Array.from({ length: 4 }, (_, attempt) => ({
      task_id: "only task",
      success: attempt > 0,
      time: { wall_ms: 1000 + 100 * attempt + i },
      tokens: { prompt_tokens: 100, completion_tokens: 20 + i, total_tokens: 120 + i },
      qualitative: { tone_score: score(i), judge_reasoning: { tone: "words" } },
    }));
    writeFileSync(join(model, "metrics.json"), JSON.stringify({ per_episode }));
  }
  return place;
}

const draw = (place: string, filter?: string) => plotFolder(place, filter, pluginSources(), signal);
const svg = (place: string, stem: string) => readFileSync(join(place, `${stem}.svg`), "utf8");

test("a judged run gets the reference's charts, a score and a task each, as PNG and SVG", async () => {
  const place = join(folder, "desk");
  cpSync(judged, place, { recursive: true });
  const written = await draw(place);
  const stems = written.filter((name) => name.endsWith(".png")).map((name) => name.slice(0, -4));
  for (const stem of [
    "execution_time",
    "time_vs_total_tokens",
    "token_usage",
    "total_tokens",
    "qualitative_metrics",
    "response_relevance",
    "tool_call_appropriateness",
    "per_task_hello",
    "per_task_draft_wrong_args",
  ]) {
    assert.ok(stems.includes(`metrics_${stem}`), stem);
  }
  assert.equal(stems.filter((stem) => stem.startsWith("metrics_per_task_")).length, 17);
  for (const name of written) {
    const bytes = readFileSync(join(place, name));
    if (name.endsWith(".png")) assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    else assert.match(bytes.toString("utf8"), /^<svg[\s\S]*<\/svg>$/);
  }
  assert.deepEqual(
    readdirSync(place).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("a custom rubric's score has its chart, and a missing score is missing there, not 0", async () => {
  const place = models("custom", 3, (i) => (i === 1 ? null : 0.5));
  await draw(place);
  const chart = svg(place, "metrics_tone_score");
  assert.equal(chart.match(/no value/g)?.length, 1);
  assert.equal(chart.match(/aria-roledescription="point"/g)?.length, 2);
});

test("the text of a picture is drawn: one with names differs from one without", async () => {
  const place = models("fonts", 1, () => 1);
  await draw(place);
  const withNames = readFileSync(join(place, "metrics_execution_time.png"));
  // Without a font the renderer drops all text in silence, and the picture is almost empty.
  assert.ok(withNames.length > 6_000, `${withNames.length} bytes`);
});

test("fifty models each have a row of their own, and the same input gives the same picture", async () => {
  const place = models("many", 50, () => 0.9);
  await draw(place);
  const first = svg(place, "metrics_total_tokens");
  for (let i = 0; i < 50; i += 1) assert.ok(first.includes(`name-${String(i).padStart(2, "0")}`));
  await draw(place);
  assert.equal(svg(place, "metrics_total_tokens"), first);
});

test("a filter chooses models; nothing to draw and broken metrics are told", async () => {
  const place = models("filter", 3, () => null);
  await draw(place, "name-02");
  assert.ok(!svg(place, "metrics_execution_time").includes("name-01"));
  await assert.rejects(draw(place, "nobody"), { code: "usage", message: /whose name holds "nobody"/ });
  await assert.rejects(draw(join(folder, "gone")), { code: "usage" });
  writeFileSync(
    join(place, readdirSync(place).find((name) => name.startsWith("bench"))!, "metrics.json"),
    "{}",
  );
  await assert.rejects(draw(place), { code: "config", message: /per_episode/ });
});
