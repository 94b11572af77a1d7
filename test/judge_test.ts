import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
  using evaluation = judged(server, { concurrency: 4 });
  evaluation.tasks(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, turns: [`Hello number ${i}`] })));
  Object.assign(process.env, key);
  const child = evaluation.start("eval", "run");
  for (const name of Object.keys(key)) delete process.env[name];
  while (server.requests.length < 20) {
    assert.equal(child.exitCode, null, "bat ended before it had judged");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill("SIGKILL");
  await exitOf(child);
  const { code, err } = await bat(evaluation, key, "eval", "resume");
  assert.equal(code, 0, err);
  for (let i = 0; i < 20; i += 1)
    assert.equal(evaluation.episode(`t${i}__try0`).qualitative_scores?.response_relevance, 0.5);
  // Only the four that were open when it was killed may have been asked again.
  assert.ok(server.requests.length <= 60 + 4, `${server.requests.length} requests`);
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

test("a judge's budget stops judging, not the attempts; a higher one goes on and asks nothing twice", async () => {
  await using server = await judgeServer(() => ({ text: '{"reasoning":"r","score":0.5}', usage: [90, 10] }));
  const many = Array.from({ length: 30 }, (_, i) => ({ id: `t${i}`, turns: [`Hello number ${i}`] }));
  using evaluation = judged(server, { concurrency: 1 }, { concurrency: 4 });
  evaluation.tasks(many);
  const settings = evaluation.settings();
  evaluation.configure({ ...settings, budget: { max_judge_tokens: 1_000 } });
  const { code, out } = await bat(evaluation, key, "eval", "run", "--json");
  const result = JSON.parse(out) as RunResult;
  assert.deepEqual([code, result.state, result.carried_out], [1, "incomplete", 30]);
  assert.match(
    result.problems.join(),
    /\d+ of 30 episodes were not judged: budget\.max_judge_tokens is used up \(\d+ of 1000\)/,
  );
  const asked = server.requests.length;
  assert.ok(asked < 60, `${asked} questions`);
  evaluation.configure({ ...settings, budget: { max_judge_tokens: 100_000 } });
  const resumed = await bat(evaluation, key, "eval", "resume", "--json");
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal((JSON.parse(resumed.out) as RunResult).models[0]!.qualitative.response_relevance?.count, 30);
  assert.equal(server.requests.length, 30 * 3);
});

test("a judge that answers nothing any more is given up, told, and asked again by a resumed run", async () => {
  let up = false;
  await using server = await judgeServer(() =>
    up ? { text: '{"reasoning":"r","score":0.5}' } : { status: 401, text: "no such key" },
  );
  using evaluation = judged(server, {}, { concurrency: 4 });
  evaluation.tasks(Array.from({ length: 60 }, (_, i) => ({ id: `t${i}`, turns: [`Hello number ${i}`] })));
  const { code, out } = await bat(evaluation, key, "eval", "run", "--json");
  assert.equal(code, 1);
  const { problems } = JSON.parse(out) as RunResult;
  assert.match(problems.join(), /episodes were not judged: openai:m does not answer: HTTP 401: no such key/);
  assert.ok(server.requests.length < 120, `${server.requests.length} questions`);
  up = true;
  assert.equal((await bat(evaluation, key, "eval", "resume")).code, 0);
  // Those that were judged in vain have no score until they are judged again, and say so.
  const again = await bat(evaluation, key, "eval", "judge", "--json");
  const kept = evaluation.read<RunResult>("result.json");
  assert.deepEqual([kept.state, kept.models[0]!.judging.relevance!.missing], ["complete", null]);
  const [model] = (JSON.parse(again.out) as { models: { scores: Record<string, { count: number }> }[] })
    .models;
  assert.equal(model!.scores.response_relevance!.count, 60);
});

test("a panel, a pack's rubric and provider, and a project's provider work through eval.yaml", async () => {
  await using server = await judgeServer(({ model }) => ({
    text: JSON.stringify({ reasoning: model, score: model === "a" ? 0.25 : 0.75 }),
  }));
  using evaluation = judged(server);
  const file = (path: string, text: string) => {
    mkdirSync(join(evaluation.folder, path, ".."), { recursive: true });
    writeFileSync(join(evaluation.folder, path), text);
  };
  const provider = `export default { apiVersion: 1, title: "Own", keyVariable: null, model: async (request) => {
    const { createOpenAICompatible } = await import(${JSON.stringify(import.meta.resolve("@ai-sdk/openai-compatible"))});
    return createOpenAICompatible({ name: "own", baseURL: request.baseUrl, supportsStructuredOutputs: true })(request.model);
  } };`;
  file("eval/plugins/providers/house.mjs", provider);
  file("pack/providers/far.mjs", provider);
  file(
    "pack/rubrics/tone.md",
    "---\nname: tone\nscore: tone_score\ntitle: Tone\nversion: 1\n---\nIs it kind?",
  );
  file(
    "pack/package.json",
    JSON.stringify({ name: "pack", bat: { apiVersion: 1, rubrics: "./rubrics", providers: "./providers" } }),
  );
  const base_url = server.url;
  evaluation.configure({
    ...evaluation.settings(),
    judge: undefined,
    plugins: ["./pack"],
    judges: [
      { provider: "house", model: "a", base_url },
      { provider: "pack/far", model: "b", base_url },
    ],
  });
  const { code, out, err } = await bat(evaluation, {}, "eval", "run");
  assert.equal(code, 0, err);
  assert.match(
    out,
    /tone_score: 0\.50 \(0\.5 to 0\.5, 2 episodes\)\n +the judges differ by 0\.50 on average/,
  );
  const { qualitative_scores, judging } = evaluation.episode("hello__try0");
  assert.equal(qualitative_scores!.tone_score, 0.5);
  assert.deepEqual(judging!["pack/tone"]!.judges, [
    { judge: "house:a", scores: [0.25] },
    { judge: "pack/far:b", scores: [0.75] },
  ]);
  const both = { ...evaluation.settings(), judge: "openai:m" };
  evaluation.configure(both);
  const { code: wrong, err: why } = await bat(evaluation, {}, "eval", "run");
  assert.equal(wrong, 2);
  assert.match(why, /judges \(line 1, column \d+\): Expected either judge or judges, found both/);
});

test("bat judge calibrate holds scores against labels; results then say the corrected rate beside the raw one", async () => {
  // Right about 40 of 50 passes and 40 of 50 failures.
  await using server = await judgeServer(({ user }) => {
    const n = Number(/number (\d+)/.exec(user)?.[1]);
    const right = n % 5 > 0;
    return { text: JSON.stringify({ reasoning: "r", score: (n % 2 === 0) === right ? 1 : 0 }) };
  });
  using evaluation = judged(server, {}, { concurrency: 4 });
  evaluation.tasks(Array.from({ length: 100 }, (_, i) => ({ id: `t${i}`, turns: [`Hello number ${i}`] })));
  const first = await bat(evaluation, key, "eval", "run");
  assert.equal(first.code, 0, first.err);
  assert.ok(!first.out.includes("corrected"));
  const labels = join(evaluation.folder, "labels.csv");
  const episode = (i: number) => evaluation.file("benchmark_scripted-one", "episodes", `t${i}__try0.json`);
  const rows = Array.from(
    { length: 100 },
    (_, i) => `relevance,${i % 2 === 0 ? "pass" : "fail"},${episode(i)}`,
  );
  writeFileSync(labels, `\ufeffRubric,label,episode\r\n${rows.join("\r\n")}\r\n`);
  const calibrated = await bat(evaluation, {}, "judge", "calibrate", "labels.csv");
  assert.equal(calibrated.code, 0, calibrated.err);
  assert.match(calibrated.out, /relevance \(response_relevance\), 100 labels, a pass from 0\.5 on/);
  assert.match(calibrated.out, /accuracy +80 % \(95 % CI 71–87 %\)/);
  assert.match(calibrated.out, /Cohen's kappa +0\.60 \(95 % CI 0\.\d\d to 0\.\d\d\)/);
  assert.match(calibrated.out, /mean absolute error +0\.20/);
  assert.match(calibrated.out, /human passes +40 +10\n +human fails +10 +40/);
  assert.match(calibrated.out, /worst disagreements\n +line 2: human 1, judge 0, /);
  const { code, out } = await bat(evaluation, key, "eval", "judge");
  assert.equal(code, 0);
  assert.match(
    out,
    /at least 0\.5: 50 % .*\n +corrected for the judge's measured error: 50 % \(95 % CI \d\d–\d\d %\)/,
  );
  // A rubric that was changed is another one.
  mkdirSync(join(evaluation.folder, "eval", "rubrics"), { recursive: true });
  const file = join(evaluation.folder, "eval", "judge-calibration.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/"rubric": "[0-9a-f]{8}/, '"rubric": "00000000'));
  const changed = await bat(evaluation, key, "eval", "judge");
  assert.match(
    changed.out,
    /not corrected for the judge's error: the rubric has changed since it was calibrated/,
  );
});

test("labels that are wrong are told line by line, all at once; scores can stand in the labels themselves", async () => {
  await using server = await good();
  using evaluation = judged(server);
  const file = join(evaluation.folder, "labels.jsonl");
  const lines = [
    { rubric: "relevence", label: 1, score: 1 },
    { rubric: "relevance", label: 2, score: 1 },
    { rubric: "relevance", label: "pass" },
    { rubric: "relevance", label: "pass", score: "high" },
  ];
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`);
  const { code, err } = await bat(evaluation, {}, "judge", "calibrate", "labels.jsonl");
  assert.equal(code, 2);
  for (const part of [
    'line 1: Unknown rubric "relevence", did you mean "relevance"?',
    "line 2: Expected label, a number from 0 to 1 or pass, fail, true or false, found 2",
    "line 3: Expected episode, the file of one, or score, found neither",
    'line 4: Expected score, a number from 0 to 1, found "high"',
    "line 5: Expected a JSON object",
  ])
    assert.ok(err.includes(part), `${part}\n${err}`);
  writeFileSync(
    file,
    [1, 0, 1, 0]
      .map((label) => JSON.stringify({ rubric: "response_relevance", label, score: label }))
      .join("\n"),
  );
  const json = await bat(evaluation, {}, "judge", "calibrate", "labels.jsonl", "--json", "--dry-run");
  assert.equal(json.code, 0, json.err);
  const [report] = (JSON.parse(json.out) as { rubrics: { kappa: { value: number }; n: number }[] }).rubrics;
  assert.deepEqual([report!.kappa.value, report!.n], [1, 4]);
  assert.ok(!existsSync(join(evaluation.folder, "eval", "judge-calibration.json")));
});
