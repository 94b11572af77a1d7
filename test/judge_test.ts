import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RunResult } from "../lib/eval/observer.ts";
import { Evaluation, exitOf } from "./_evaluation.ts";
import { type JudgeServer, judgeServer } from "./_judge-server.ts";

const tasks = [
  { id: "stock", turns: ["How many bolts?"], expected: { tool_calls: [{ name: "stock" }] } },
  { id: "hello", turns: ["Hello"] },
];
const good = () => judgeServer(() => ({ text: '{"reasoning":"fine","score":0.75}' }));

function judged(server: JudgeServer, more: object = {}, settings: object = {}): Evaluation {
  return new Evaluation(
    tasks,
    { qualitative: true, ...settings },
    { judge: { provider: "openai", model: "m", base_url: server.url, api_key_env: "JUDGE_KEY", ...more } },
  );
}

/** Runs bat beside the judge's server, which lives in this process. */
async function bat(
  evaluation: Evaluation,
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  Object.assign(process.env, env);
  const child = evaluation.start(...args);
  for (const name of Object.keys(env)) delete process.env[name];
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    err += chunk;
  });
  const { code } = await exitOf(child);
  return { code, out, err };
}
const key = { JUDGE_KEY: "sk-canary-456" };

test("a qualitative run scores every episode by every rubric that applies, and keeps no key", async () => {
  await using server = await good();
  using evaluation = judged(server);
  const { code, out, err } = await bat(evaluation, key, "eval", "run", "--json");
  assert.equal(code, 0, err);
  const { qualitative } = (JSON.parse(out) as RunResult).models[0]!;
  assert.deepEqual(
    Object.fromEntries(Object.entries(qualitative).map(([field, { count }]) => [field, count])),
    {
      hallucination_score: 2,
      response_relevance: 2,
      task_completion_quality: 2,
      tool_call_appropriateness: 1,
    },
  );
  const scores = evaluation.episode("hello__try0").qualitative_scores!;
  assert.deepEqual([scores.response_relevance, scores.tool_call_appropriateness], [0.75, null]);
  assert.deepEqual(
    (scores.judge_reasoning as Record<string, string>).tool_call,
    "skipped: no tool calls expected for this task",
  );
  for (const file of ["run.json", "journal.jsonl", "result.json", "agent-0.log"])
    assert.ok(!readFileSync(evaluation.file(file), "utf8").includes("canary"), file);
  assert.ok(!`${out}${err}`.includes("canary"));
});

test("a missing key is told before anything starts", async () => {
  await using server = await good();
  using evaluation = judged(server);
  const { code, err } = await bat(evaluation, {}, "eval", "run");
  assert.deepEqual([code, evaluation.runs], [2, []]);
  assert.match(err, /needs a key in the variable JUDGE_KEY/);
  assert.equal((await bat(evaluation, {}, "eval", "run", "--no-qualitative")).code, 0);
});

test("a judge that fails loses no episode and invents no score", async () => {
  await using server = await judgeServer(() => ({ status: 401, text: "no" }));
  using evaluation = judged(server);
  const { code } = await bat(evaluation, key, "eval", "run");
  assert.equal(code, 0);
  const { verdict, qualitative_scores } = evaluation.episode("stock__try0");
  assert.equal(verdict.passed, true);
  assert.equal(qualitative_scores?.response_relevance, null);
  assert.match(
    (qualitative_scores!.judge_reasoning as Record<string, string>).relevance!,
    /^No score: HTTP 401/,
  );
});

test("a run killed while it is judged goes on judging, and asks nothing twice", async () => {
  await using server = await judgeServer(() => ({ text: '{"reasoning":"r","score":0.5}', delayMs: 60 }));
  using evaluation = judged(server, {}, { k: 8 });
  Object.assign(process.env, key);
  const child = evaluation.start("eval", "run");
  while (server.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill("SIGKILL");
  await exitOf(child);
  const { code, err } = await bat(evaluation, key, "eval", "resume");
  assert.equal(code, 0, err);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    assert.equal(evaluation.episode(`stock__try${attempt}`).qualitative_scores?.response_relevance, 0.5);
  }
  // Every attempt of a task gives the same prompt, so answers are shared; without that: 8 × (4 + 3).
  assert.ok(server.requests.length < 56 + 16, `${server.requests.length} requests`);
});

test("bat eval judge scores a finished run, and one rubric of the project's own beside the rest", async () => {
  await using server = await good();
  using evaluation = judged(server);
  await bat(evaluation, {}, "eval", "run", "--no-qualitative");
  assert.equal(evaluation.episode("stock__try0").qualitative_scores, null);
  assert.equal((await bat(evaluation, key, "eval", "judge", "--rubric", "relevance")).code, 0);
  mkdirSync(join(evaluation.folder, "eval", "rubrics"));
  writeFileSync(
    join(evaluation.folder, "eval", "rubrics", "tone.md"),
    "---\nname: tone\nscore: tone_score\ntitle: Tone\nversion: 1\n---\nIs it kind?",
  );
  const { code, out, err } = await bat(evaluation, key, "eval", "judge", "--rubric", "tone");
  assert.equal(code, 0, err);
  assert.match(out, /tone_score: 0\.75/);
  const scores = evaluation.episode("stock__try0").qualitative_scores!;
  assert.deepEqual([scores.tone_score, scores.response_relevance], [0.75, 0.75]);
  const metrics = evaluation.read<{ summary: { qualitative: object } }>(
    "benchmark_scripted-one",
    "metrics.json",
  );
  assert.deepEqual(Object.keys(metrics.summary.qualitative).sort(), ["response_relevance", "tone_score"]);
});

test("bat judge try shows the exact prompt and one answer; with --dry-run nobody is asked", async () => {
  await using server = await good();
  using evaluation = judged(server);
  await bat(evaluation, {}, "eval", "run", "--no-qualitative");
  const file = evaluation.file("benchmark_scripted-one", "episodes", "stock__try0.json");
  const dry = await bat(evaluation, {}, "judge", "try", "relevance", file, "--dry-run");
  assert.equal(dry.code, 0, dry.err);
  assert.match(
    dry.out,
    /--- instructions\nYou judge one thing[\s\S]*--- data\n<<[0-9a-f]{16} query\nHow many bolts\?/,
  );
  assert.equal(server.requests.length, 0);
  const { out } = await bat(evaluation, key, "judge", "try", "relevance", file);
  assert.match(
    out,
    /--- answer\nresponse_relevance: 0\.75\nfine\n\(1 request\(s\): structured; 10 tokens in, 5 out\)/,
  );
  const unknown = await bat(evaluation, key, "judge", "try", "relevence", file);
  assert.deepEqual([unknown.code, /did you mean "relevance"/.test(unknown.err)], [2, true]);
});

test("judging overlaps with the attempts: it begins while they go on", async () => {
  await using server = await good();
  using evaluation = judged(server);
  evaluation.tasks(Array.from({ length: 6 }, (_, i) => ({ id: `t${i}`, turns: [`sleep 150 number ${i}`] })));
  await bat(evaluation, key, "eval", "run");
  const journal = readFileSync(evaluation.file("journal.jsonl"), "utf8").trim().split("\n");
  const facts = journal.map((line) => JSON.parse(line) as { at: string; fact: string });
  const last = Date.parse(facts.findLast(({ fact }) => fact === "attempt-finished")!.at);
  assert.ok(server.requests.filter(({ at }) => at < last).length >= 9);
  assert.equal(server.requests.length, 18);
});
