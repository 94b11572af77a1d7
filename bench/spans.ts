/**
 * Spans read and indexed: MB/s, whether the cost is linear in bytes, and memory. `--full` goes to 1 GB.
 */

import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPlugins } from "../lib/plugin/loader.ts";
import { pluginSources } from "../lib/plugin/sources.ts";
import { SpanIndex } from "../lib/trace/span-index.ts";
import { show } from "./_bench.ts";

const golden = fileURLToPath(new URL("../fixtures/golden/trajectory/plain/spans/a.jsonl", import.meta.url));
const lines = readFileSync(golden, "utf8").trim().split("\n");
const full = process.argv.includes("--full");
const sizes = full ? [100, 1000] : [50, 200];
const conventions = await loadPlugins("conventions", pluginSources());
const folder = mkdtempSync(join(tmpdir(), "bat-spans-"));

/** Attempts of about 150 KB, mostly inputs, as the kit's agents leave them. */
async function generate(file: string, megabytes: number): Promise<number> {
  const out = createWriteStream(file);
  let bytes = 0;
  for (let attempt = 0; bytes < megabytes * 1e6; attempt += 1) {
    const trace = attempt.toString(16).padStart(32, "0");
    const filler = JSON.stringify('x \\"y\\" {\\"k\\": 1.5} '.repeat(230)).slice(1, -1);
    for (const line of lines) {
      const moved = line
        .replaceAll(/"trace_id": "[0-9a-f]+"/g, `"trace_id": "${trace}"`)
        .replaceAll("draft__try0", `t__try${attempt}`);
      const text = `${moved.replace('"attributes": {', `"attributes": {"llm.input_messages.0.message.content": "${filler}", `)}\n`;
      bytes += Buffer.byteLength(text);
      if (!out.write(text)) await once(out, "drain");
    }
  }
  out.end();
  await once(out, "close");
  return bytes;
}

const results: { bytes: number; seconds: number; memory: number; conversations: number }[] = [];
for (const megabytes of sizes) {
  const file = join(folder, `${megabytes}.jsonl`);
  const bytes = await generate(file, megabytes);
  const before = process.memoryUsage().rss;
  const begun = performance.now();
  const index = new SpanIndex([file], conventions);
  let seen = 0;
  let peak = before;
  // As a run does it: what is read is asked for, then released.
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
    for (const { id } of index.conversations().slice(0, -1)) {
      const query = { conversation: id, turns: ["x"] };
      if (!index.complete(query)) continue;
      index.trajectory(query);
      index.release(query);
      seen += 1;
    }
  }, 20);
  await index.readAll();
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(timer);
  index.close();
  results.push({ bytes, seconds, memory: peak - before, conversations: seen });
}
rmSync(folder, { recursive: true, force: true });
const [small, large] = results as [(typeof results)[0], (typeof results)[0]];
const speed = (one: typeof small) => one.bytes / 1e6 / one.seconds;
const linear = large.seconds / large.bytes / (small.seconds / small.bytes);
show([
  {
    what: `read, index, build and release ${(large.bytes / 1e6).toFixed(0)} MB`,
    measured: `${speed(large).toFixed(0)} MB/s`,
    target: "≥ 120 MB/s",
    good: speed(large) >= 120,
  },
  {
    what: `cost per byte, ${(large.bytes / small.bytes).toFixed(0)} × the bytes`,
    measured: `${linear.toFixed(2)} ×`,
    target: "linear: about 1 ×",
    good: linear < 1.25,
  },
  {
    what: "memory beyond the start",
    measured: `${(small.memory / 1e6).toFixed(0)} MB, then ${(large.memory / 1e6).toFixed(0)} MB`,
    target: "not proportional",
    good: large.memory < small.memory * 2 + 50e6,
  },
]);
