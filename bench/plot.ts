/** Charts of a run with 10 models and 20 tasks: time per chart after the first. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PlottedModel } from "../lib/plugin/define.ts";
import { loadPlugins } from "../lib/plugin/loader.ts";
import { pluginSources } from "../lib/plugin/sources.ts";
import { drawAll } from "../lib/report/draw.ts";
import { median, quantile, show } from "./_bench.ts";

const folder = mkdtempSync(join(tmpdir(), "bat-plots-"));
mkdirSync(folder, { recursive: true });
const models: PlottedModel[] = Array.from({ length: 10 }, (_, m) => ({
  name: `model-${m}`,
  episodes: Array.from({ length: 60 }, (_, i) => ({
    task_id: `task ${i % 20}`,
    success: i % 3 > 0,
    time: { wall_ms: 1000 + ((i * 37 + m * 11) % 500) },
    tokens: { prompt_tokens: 100, completion_tokens: 20 + i, total_tokens: 120 + i },
    qualitative: { response_relevance: 0.5 + ((i + m) % 5) / 10 },
  })),
}));
const plotters = await loadPlugins("plotters", pluginSources());
const plots = plotters.flatMap(({ definition }) => [...definition.plot(models)]);
const times: number[] = [];
let begun = performance.now();
let count = 0;
for await (const { png } of drawAll(plots.map(({ spec }) => spec))) {
  times.push(performance.now() - begun);
  writeFileSync(join(folder, `${plots[count++]!.stem}.png`), png);
  begun = performance.now();
}
rmSync(folder, { recursive: true, force: true });
const [first = 0, ...later] = times;
show([
  {
    what: "first chart, packages loaded",
    measured: `${first.toFixed(0)} ms`,
    target: "no target",
    good: true,
  },
  {
    what: `a chart after the first, median of ${later.length}`,
    measured: `${median(later).toFixed(0)} ms (p95 ${quantile(later, 0.95).toFixed(0)} ms)`,
    target: "< 150 ms",
    good: median(later) < 150,
  },
]);
