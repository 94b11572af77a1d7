/**
 * Judging against a server on loopback whose answers take 50 ms: 5,000 scores, 16 at once, against the bound; memory at
 * 5,000 scores against 500; a run whose attempts and judging overlap against the longer of the two.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { BAT, Evaluation } from "../test/_evaluation.ts";
import { peakMemory, show } from "./_bench.ts";

const ANSWER_MS = 50;
const AT_ONCE = 16;
const PER_EPISODE = 4;

/** In a thread of its own, so that its work is not the judge's; says how long its answers and all of them together took. */
const SERVER = `
const { createServer } = require("node:http");
const { parentPort } = require("node:worker_threads");
const body = JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: '{"reasoning":"fine","score":0.75}' } }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
let seen = { count: 0, total: 0, first: 0, last: 0, open: 0, most: 0 };
const http = createServer((request, response) => {
  const begun = performance.now();
  if (seen.count === 0 && seen.open === 0) seen.first = begun;
  seen.open += 1;
  seen.most = Math.max(seen.most, seen.open);
  request.resume();
  setTimeout(() => {
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
    seen.last = performance.now();
    seen.open -= 1;
    seen.count += 1;
    seen.total += seen.last - begun;
  }, ${ANSWER_MS});
});
http.listen(0, "127.0.0.1", () => parentPort.postMessage(http.address().port));
parentPort.on("message", () => {
  parentPort.postMessage({ count: seen.count, mean: seen.total / seen.count, span: seen.last - seen.first, most: seen.most });
  seen = { count: 0, total: 0, first: 0, last: 0, open: 0, most: 0 };
});
`;

const server = new Worker(SERVER, { eval: true });
const [port] = (await once(server, "message")) as [number];
const url = `http://127.0.0.1:${port}/v1`;

interface Answered {
  count: number;
  /** Milliseconds of an answer, as the server took. */
  mean: number;
  /** Milliseconds from the first request to the last answer. */
  span: number;
  most: number;
}

async function answered(): Promise<Answered> {
  server.postMessage("tell");
  return ((await once(server, "message")) as [Answered])[0];
}

/** Nothing but requests, as many at once: what Node itself can reach here. */
async function bare(count: number): Promise<Answered> {
  const code = `let left = ${count}; const body = JSON.stringify({ prompt: "x".repeat(4000) });
    await Promise.all(Array.from({ length: ${AT_ONCE} }, async () => {
      while (left-- > 0) await (await fetch("${url}/chat/completions", { method: "POST", headers: { "content-type": "application/json" }, body })).json();
    }));`;
  await once(spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" }), "exit");
  return await answered();
}

interface Timed {
  ms: number;
  memory: number;
}

async function timed(evaluation: Evaluation, ...args: string[]): Promise<Timed> {
  const begun = performance.now();
  const child = spawn(process.execPath, [BAT, ...args], { cwd: evaluation.folder, stdio: "ignore" });
  let memory = 0;
  const watch = setInterval(() => {
    memory = Math.max(memory, peakMemory(child.pid!) || 0);
  }, 50);
  const [code] = (await once(child, "exit")) as [number];
  clearInterval(watch);
  if (code !== 0) throw new Error(`bat ${args.join(" ")} ended with ${code}`);
  return { ms: performance.now() - begun, memory };
}

/** Every episode is another prompt, so that no answer is known. */
function evaluationOf(scores: number, turn: (i: number) => string): Evaluation {
  const tasks = Array.from({ length: scores / PER_EPISODE }, (_, i) => ({
    id: `t${i}`,
    turns: [turn(i)],
    expected: { tool_calls: [{ name: "stock", times: 1 }] },
  }));
  return new Evaluation(
    tasks,
    { concurrency: 8 },
    {
      judge: {
        provider: "scripted",
        model: "m",
        base_url: url,
        concurrency: AT_ONCE,
      },
    },
  );
}

async function judgedApart(scores: number): Promise<Timed & Answered> {
  using evaluation = evaluationOf(scores, (i) => `How many bolts? ${i}`);
  await timed(evaluation, "eval", "run");
  await answered();
  const { ms, memory } = await timed(evaluation, "eval", "judge");
  return { ms, memory, ...(await answered()) };
}

const small = await judgedApart(1_000);
const plain = await bare(5_000);
const large = await judgedApart(5_000);
const boundOf = ({ count, mean }: Answered) => (count * mean) / AT_ONCE;
const judging = large.span / boundOf(large);

using overlapping = evaluationOf(2_000, (i) => `sleep 100 How many bolts? ${i}`);
const alone = await timed(overlapping, "eval", "run");
const apart = await timed(overlapping, "eval", "judge");
using together = evaluationOf(2_000, (i) => `sleep 100 How many nuts? ${i}`);
const both = await timed(together, "eval", "run", "--qualitative");
await server.terminate();
const longer = Math.max(alone.ms, apart.ms);
show([
  {
    what: `${large.count} scores, at most ${large.most} at once, answers of ${large.mean.toFixed(1)} ms / bound`,
    measured: `${judging.toFixed(3)} × (${(large.span / 1000).toFixed(2)} s / ${(boundOf(large) / 1000).toFixed(2)} s)`,
    target: "≤ 1.05 ×",
    good: judging <= 1.05 && large.most <= AT_ONCE,
  },
  {
    what: "the same / nothing but fetch in a loop, which itself takes more than the bound",
    measured: `${(large.span / plain.span).toFixed(3)} × (fetch / bound ${(plain.span / boundOf(plain)).toFixed(3)} ×)`,
    target: "≤ 1.05 ×",
    good: large.span / plain.span <= 1.05,
  },
  {
    what: "resident memory at 5,000 scores / at 1,000",
    measured: `${(large.memory / small.memory).toFixed(2)} × (${(large.memory / 1e6).toFixed(0)} MB / ${(small.memory / 1e6).toFixed(0)} MB)`,
    target: "flat",
    good: large.memory / small.memory <= 1.2,
  },
  {
    what: "run with judging / the longer of attempts and judging",
    measured: `${(both.ms / longer).toFixed(3)} × (${(both.ms / 1000).toFixed(2)} s / ${(longer / 1000).toFixed(2)} s; attempts ${(alone.ms / 1000).toFixed(2)} s, judging ${(apart.ms / 1000).toFixed(2)} s)`,
    target: "≤ 1.05 ×",
    good: both.ms / longer <= 1.05,
  },
]);
