/**
 * Evaluates real agents made with bat-adk, started with `uv run` from PyPI against a scripted model server, and holds
 * every episode against the recorded runs of the reference. Needs a Python ≥ 3.12 and PyPI; brings uv itself.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { freePort } from "../lib/agent/port.ts";
import type { Episode } from "../lib/eval/episode.ts";
import type { RunResult } from "../lib/eval/observer.ts";
import { renderTrajectory } from "../lib/trace/render.ts";
import { episodes, Lab, results } from "./_adk-lab.ts";
import { BAT, exitOf } from "./_evaluation.ts";
import {
  assertEpisode,
  assertResults,
  type Metrics,
  recorded,
  type Summary,
  withAttempts,
} from "./_golden.ts";
import { judgeServer } from "./_judge-server.ts";

let lab: Lab;
before(
  async () => {
    lab = await Lab.prepare();
  },
  { timeout: 600_000 },
);
afterEach(() => {
  assert.deepEqual(lab.processesLeft(), []);
  lab.assertConfigsUntouched();
});
after(() => lab?.[Symbol.dispose]());

/** A recorded run's `summary.json` and `metrics.json`. */
function recordedResults(folder: string): [Summary, Metrics] {
  return [recorded(`${folder}/summary.json`), recorded(`${folder}/metrics.json`)];
}

for (const concurrency of [1, 4]) {
  test(`desk: 17 tasks, three attempts each, ${concurrency} at once: every episode is the recorded one`, {
    timeout: 300_000,
  }, async () => {
    const tasks = recorded<unknown[]>("desk/tasks.json");
    lab.writeEvaluation("desk", tasks, { k: 3, concurrency });
    const { code, result } = await lab.withModel(() => lab.evaluate("desk"));
    assert.equal(code, 0);
    assert.deepEqual([result.state, result.carried_out, result.passed], ["complete", 51, 27]);
    const folder = "desk/output/benchmark_openai-lab-model";
    for (const episode of episodes(result)) {
      const attempt = episode.aux.attempt_index;
      const name = `${episode.task_id.replace(/[^\w.-]/g, "_")}__try${attempt % 2}`;
      assertEpisode(episode, recorded(`${folder}/episodes/${name}.json`), attempt);
    }
    assertResults(results(result), withAttempts(...recordedResults(folder), 3));
  });
}

test("desk, judged: every score, skipped rubric and reason is the recorded one, and the judge reads the steps", {
  timeout: 300_000,
}, async () => {
  // What the recorded judge said, rubric by rubric; to one of them it never answers by the schema.
  const said = new Map([
    ["whether an agent's final answer is about what the user asked", '{"reasoning":"On topic.","score":0.9}'],
    ["whether an agent reached the outcome", '{"reasoning":"Reached.","score":0.75}'],
    ["how an agent used its tools", '{"reasoning":"Right tools.","score":1}'],
    [
      "whether what an agent states is grounded",
      '<think>{"score": 0.1}</think> Here: {"reasoning": "Fully grounded.", "score": 1} as asked.',
    ],
  ]);
  await using server = await judgeServer(({ system }) => {
    const text = [...said].find(([words]) => system.includes(words))?.[1];
    return text === undefined ? { status: 400, text: "unknown rubric" } : { text };
  });
  const judge = {
    provider: "openai",
    model: "judge-model",
    base_url: server.url,
    api_key_env: "JUDGE_KEY",
    env: { JUDGE_KEY: "test-key" },
    prompts: { task_completion: "A draft is not an order." },
  };
  const settings = { qualitative: true };
  lab.writeEvaluation("desk", recorded("desk-judged/tasks.json"), settings, undefined, { judge });
  const { code, result, stderr } = await lab.withModel(() => lab.evaluate("desk"));
  assert.equal(code, 0, stderr);
  const folder = "desk-judged/output/benchmark_openai-lab-model";
  for (const episode of episodes(result))
    assertEpisode(
      episode,
      recorded(`${folder}/episodes/${episode.task_id.replace(/[^\w.-]/g, "_")}__try0.json`),
      0,
    );
  assertResults(results(result), recordedResults(folder));
  const draft = recorded<Episode>(`${folder}/episodes/draft__try0.json`).trace.trajectory;
  const shown = server.requests.filter(({ user }) => user.includes(renderTrajectory(draft, 24_000)));
  assert.ok(shown.length >= 3, "the judge is shown the steps as the reference renders them");
  assert.ok(server.requests.some(({ system }) => system.includes("A draft is not an order.")));
});

test("supervisor: it calls the desk, whose steps nest in its own", { timeout: 300_000 }, async () => {
  const spans = lab.path("desk-spans.jsonl");
  lab.writeEvaluation("supervisor", recorded("supervisor/tasks.json"), {
    run_name: "delegation",
    extra_spans: spans,
  });
  const result = await lab.withModel(async () => {
    await using _desk = await lab.startDesk(spans);
    return await lab.evaluate("supervisor");
  });
  assert.equal(result.code, 0, result.stderr);
  assert.deepEqual([result.result.state, result.result.carried_out], ["complete", 6]);
  const folder = "supervisor/output/delegation_openai-lab-model";
  for (const episode of episodes(result.result))
    assertEpisode(episode, recorded(`${folder}/episodes/${episode.task_id}__try0.json`), 0);
  assertResults(results(result.result), recordedResults(folder));
});

/** Fails unless an attempt whose agent died is the recorded one, but for the wording of what became of the stream. */
function assertKilled(episode: Episode, expected: Episode): void {
  assert.match(episode.final_output, /exit code 7/);
  assertEpisode({ ...episode, final_output: expected.final_output }, expected, 0);
}

test("an agent that kills itself is started anew: the task after it is carried out", {
  timeout: 300_000,
}, async () => {
  lab.writeEvaluation("desk", recorded("desk-killed/tasks.json"), {});
  // As recorded, its model cannot be reached.
  const { code, result } = await lab.evaluate("desk");
  assert.equal(code, 0);
  const [model] = result.models;
  assert.deepEqual([model?.carried_out, model?.passed, model?.restarts], [3, 1, 1]);
  const folder = "desk-killed/output/benchmark_openai-lab-model/episodes";
  const first = recorded<Episode>(`${folder}/before__try0.json`);
  const byTask = new Map(episodes(result).map((episode) => [episode.task_id, episode]));
  assertEpisode(byTask.get("before")!, first, 0);
  assertKilled(byTask.get("killed")!, recorded(`${folder}/killed__try0.json`));
  // The same words as `before`, other expectations: said by the agent that was started anew.
  const verdict = { passed: true, reason: "model calls: 1" };
  assertEpisode(byTask.get("after")!, { ...first, task_id: "after", verdict }, 0);
});

test("of three models one cannot start: its reason is told, the others are evaluated, and the exit code says so", {
  timeout: 300_000,
}, async () => {
  // As recorded, OpenAI itself cannot be reached; told by the project's .env, since the model has no address of its own.
  const dotenv = lab.path(".env");
  writeFileSync(dotenv, `OPENAI_API_KEY=test-key\nOPENAI_BASE_URL=http://127.0.0.1:${await freePort()}/v1\n`);
  lab.writeEvaluation("desk", recorded("desk-two-models/tasks.json"), { run_name: "two" }, [
    { provider: "ollama", model: "not-there" },
    "openai:lab-model-2",
    lab.model,
  ]);
  const { code, result } = await lab.withModel(() => lab.evaluate("desk"));
  rmSync(dotenv);
  assert.equal(code, 1);
  const [none, silent, good] = result.models;
  assert.match(none?.error ?? "", /stopped before it was ready \(exit code 1\).*langchain-ollama/s);
  assert.deepEqual([none?.carried_out, none?.failed], [0, 0]);
  const folder = "desk-two-models/output/two_openai-lab-model-2";
  assert.deepEqual([silent?.folder, silent?.carried_out, silent?.passed], ["two_openai-lab-model-2", 3, 1]);
  const byTask = new Map(episodes(result, 1).map((episode) => [episode.task_id, episode]));
  assertEpisode(byTask.get("before")!, recorded(`${folder}/episodes/before__try0.json`), 0);
  assertKilled(byTask.get("killed")!, recorded(`${folder}/episodes/killed__try0.json`));
  assert.deepEqual([good?.carried_out, good?.passed, good?.restarts], [3, 2, 1]);
});

test("bat itself killed in the middle: no process is left, and the resumed run ends like an undisturbed one", {
  timeout: 300_000,
}, async () => {
  const tasks = [
    { id: "hello", turns: ["Say hello"] },
    { id: "slow", turns: ["sleep 2"] },
    { id: "again", turns: ["Say hello"] },
  ];
  lab.writeEvaluation("desk", tasks, { agent_shutdown_timeout_s: 5 });
  await lab.withModel(async () => {
    const child = spawn(process.execPath, [BAT, "eval", "run", "desk"], {
      cwd: lab.folder,
      env: lab.env,
      stdio: "ignore",
    });
    const output = lab.path("desk", "eval", "output");
    const earlier = existsSync(output) ? readdirSync(output) : [];
    const journal = () => {
      const run = existsSync(output)
        ? readdirSync(output).find((name) => !earlier.includes(name))
        : undefined;
      const file = join(output, run ?? "none", "journal.jsonl");
      return existsSync(file) ? readFileSync(file, "utf8") : "";
    };
    while (!journal().includes("attempt-finished")) await new Promise((resolve) => setTimeout(resolve, 50));
    const agents = () => lab.processesLeft().filter((line) => !line.includes("scripted_model.py"));
    assert.ok(agents().length > 1, "bat and its agent are running");
    child.kill("SIGKILL");
    await exitOf(child);
    for (let i = 0; i < 200 && agents().length > 0; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(agents(), []);
    const resumed = spawnSync(process.execPath, [BAT, "eval", "resume", "--json"], {
      cwd: lab.path("desk"),
      env: lab.env,
      encoding: "utf8",
    });
    assert.equal(resumed.status, 0, resumed.stderr);
    const result = JSON.parse(resumed.stdout) as RunResult;
    assert.deepEqual([result.state, result.carried_out, result.problems], ["complete", 3, []]);
  });
});
