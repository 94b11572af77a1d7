/**
 * The cost of `bat eval run` beside the bare A2A exchange, with the demo agent; whole runs against their bound; and the
 * reading of what 1,000 attempts leave. `--quick` does a tenth.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, isListening } from "../lib/agent/port.ts";
import { connectA2a } from "../lib/conversation/a2a/client.ts";
import { loadPlugins } from "../lib/plugin/loader.ts";
import { pluginSources } from "../lib/plugin/sources.ts";
import { SpanIndex } from "../lib/trace/span-index.ts";
import { median, quantile, show } from "./_bench.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const agentFile = join(root, "fixtures", "demo", "agent.ts");
const attempts = process.argv.includes("--quick") ? 100 : 1000;
const folder = mkdtempSync(join(tmpdir(), "bat-bench-"));

interface Run {
  /** Seconds from the first attempt's start to the last one's end, by the journal. */
  seconds: number;
  /** Milliseconds between the ends of attempts that follow each other. */
  gaps: number[];
  directory: string;
}

async function evaluate(name: string, turn: string, k: number, concurrency: number): Promise<Run> {
  const place = join(folder, name);
  mkdirSync(join(place, "eval", "input"), { recursive: true });
  writeFileSync(join(place, "eval", "input", "tasks.json"), JSON.stringify([{ id: "t", turns: [turn] }]));
  const config = {
    evaluation: { k, concurrency },
    agent: { url: "http://127.0.0.1:0", command: [process.execPath, agentFile] },
    models: ["scripted:m"],
  };
  writeFileSync(join(place, "eval", "eval.yaml"), JSON.stringify(config));
  const child = spawn(process.execPath, [join(root, "bin", "bat.ts"), "eval", "run"], {
    cwd: place,
    stdio: "ignore",
  });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error(`bat eval run ended with ${code}`);
  const output = join(place, "eval", "output");
  const directory = join(output, readdirSync(output)[0]!);
  const facts = readFileSync(join(directory, "journal.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { at: string; fact: string });
  const started = facts.filter(({ fact }) => fact === "attempt-started").map(({ at }) => Date.parse(at));
  const finished = facts.filter(({ fact }) => fact === "attempt-finished").map(({ at }) => Date.parse(at));
  const gaps = started.slice(1).map((at, i) => at - started[i]!);
  return { seconds: (finished[finished.length - 1]! - started[0]!) / 1000, gaps, directory };
}

/** The bare exchange: the same client in a tight loop, nothing kept, nothing read. */
async function bare(turn: string, count: number): Promise<number[]> {
  const port = await freePort();
  const agent: ChildProcess = spawn(process.execPath, [agentFile], {
    env: { ...process.env, PORT: String(port), BAT_SPANS_FILE: join(folder, "bare.jsonl") },
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await isListening(url))) await new Promise((resolve) => setTimeout(resolve, 10));
  const { signal } = new AbortController();
  const client = await connectA2a({ url }, signal);
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const begun = performance.now();
    const turnOut = { text: turn, traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
    for await (const _ of client.converse(`bare${i}`).send(turnOut, { signal }));
    times.push(performance.now() - begun);
  }
  await client.close();
  agent.kill("SIGKILL");
  await once(agent, "exit");
  return times;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const turn = "How many bolts?";
const exchange = await bare(turn, attempts);
const plain = await evaluate("plain", turn, attempts, 1);
const total = (plain.seconds * 1000) / attempts;
const overheadMedian = median(plain.gaps) - median(exchange);
const overheadMean = total - sum(exchange) / exchange.length;
const overheadP95 = quantile(plain.gaps, 0.95) - median(exchange);

const big = "big 150 How many bolts?";
const bigExchange = await bare(big, attempts);
const bigRun = await evaluate("big", big, attempts, 1);
const spans = join(bigRun.directory, "spans-0");
const bytes = readdirSync(spans).reduce((sum, name) => sum + statSync(join(spans, name)).size, 0);
const conventions = await loadPlugins("conventions", pluginSources());
const begun = performance.now();
const index = new SpanIndex([spans], conventions);
await index.readAll();
const reading = (performance.now() - begun) / 1000;
index.close();
const bigExchangeSeconds = sum(bigExchange) / 1000;
// What the spans add: the run with them less the run without, less what the agent itself takes to write them.
const bigOverhead = bigRun.seconds - plain.seconds - (bigExchangeSeconds - sum(exchange) / 1000);

const slow = await evaluate("slow", "sleep 200 How many bolts?", attempts / 10, 8);
const slowOne = median(await bare("sleep 200 How many bolts?", 12));
const bound = Math.ceil(attempts / 10 / 8) * (slowOne / 1000);

show([
  {
    what: `overhead per attempt, ${attempts} attempts, median`,
    measured: `${overheadMedian.toFixed(2)} ms (mean ${overheadMean.toFixed(2)} ms; exchange ${median(exchange).toFixed(2)} ms)`,
    target: "< 4 ms",
    good: overheadMedian < 4 && overheadMean < 4,
  },
  {
    what: "overhead per attempt, p95",
    measured: `${overheadP95.toFixed(2)} ms`,
    target: "< 10 ms",
    good: overheadP95 < 10,
  },
  {
    what: `${(bytes / 1e6).toFixed(0)} MB of spans: what they add to the run / reading them alone`,
    measured: `${(bigOverhead / reading).toFixed(2)} × (${bigOverhead.toFixed(2)} s / ${reading.toFixed(2)} s; whole run ${bigRun.seconds.toFixed(2)} s)`,
    target: "≤ 2 ×",
    good: bigOverhead <= 2 * reading,
  },
  {
    what: "whole run / bound, attempts of 200 ms, 8 at once",
    measured: `${(slow.seconds / bound).toFixed(3)} × (${slow.seconds.toFixed(2)} s / ${bound.toFixed(2)} s)`,
    target: "≤ 1.05 ×",
    good: slow.seconds <= 1.05 * bound,
  },
]);
rmSync(folder, { recursive: true, force: true });
