/**
 * Evaluates real agents made with bat-adk, started with `uv run` from PyPI against a scripted model server, and holds
 * every episode against the recorded runs of the reference. Needs a Python ≥ 3.12 and PyPI; brings uv itself.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type RunningAgent, startAgent } from "../lib/agent/agent.ts";
import { freePort, isListening } from "../lib/agent/port.ts";
import type { Episode } from "../lib/eval/episode.ts";
import type { RunResult } from "../lib/eval/observer.ts";
import { configWithTelemetry } from "../lib/project/config-copy.ts";
import { BAT, exitOf } from "./_evaluation.ts";
import {
  assertEpisode,
  assertResults,
  type Metrics,
  recorded,
  type Summary,
  withAttempts,
} from "./_golden.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(tmpdir(), "bat-adk-cache");
/** Every process of these tests has it in its environment, so that those left are found. */
const MARK = "BAT_ADK_LAB";
const MODEL = { provider: "openai", model: "lab-model" };

let env: NodeJS.ProcessEnv = {};
let lab = "";
const configs = new Map<string, Buffer>();
const ports = { desk: 0, supervisor: 0, model: 0 };

before(
  async () => {
    env = { ...process.env, ...uvExports(), UV_PROJECT_ENVIRONMENT: join(cache, "env") };
    delete env.NODE_TEST_CONTEXT;
    lab = mkdtempSync(join(tmpdir(), "bat-adk-"));
    env[MARK] = lab;
    cpSync(join(root, "fixtures", "adk"), lab, { recursive: true });
    for (const name of ["desk", "supervisor", "model"] as const) ports[name] = await freePort();
    for (const agent of ["desk", "supervisor"]) {
      const file = join(lab, agent, "config.yaml");
      const text = readFileSync(file, "utf8")
        .replaceAll("9921", String(ports.desk))
        .replaceAll("9922", String(ports.supervisor));
      writeFileSync(file, text);
      configs.set(file, readFileSync(file));
    }
    const synced = spawnSync("uv", ["sync"], { cwd: lab, env, encoding: "utf8" });
    assert.equal(
      synced.status,
      0,
      `These tests need bat-adk from PyPI, which cannot be installed: ${synced.stderr}`,
    );
  },
  { timeout: 600_000 },
);
afterEach(() => {
  assert.deepEqual(processesLeft(), []);
  for (const [file, text] of configs)
    assert.ok(readFileSync(file).equals(text), `${file} of the user is as it was, byte for byte`);
});
after(() => rmSync(lab, { recursive: true, force: true }));

/** PATH with uv and a Python that fits, from tools/uv.sh. */
function uvExports(): NodeJS.ProcessEnv {
  const script = `eval "$(bash tools/uv.sh '${cache}')" && printf '%s\\n%s' "$PATH" "$UV_PYTHON"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, `These tests need uv and Python ≥ 3.12, which cannot be had: ${stderr}`);
  const [PATH, UV_PYTHON] = stdout.split("\n");
  return { PATH, UV_PYTHON };
}

/** The scripted model, its rules fresh, for the length of one evaluation. */
async function withModel<T>(use: () => Promise<T>): Promise<T> {
  const model: ChildProcess = spawn(
    join(cache, "env", "bin", "python"),
    ["scripted_model.py", String(ports.model), "model-rules.json"],
    {
      cwd: lab,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  try {
    while (!(await isListening(`http://127.0.0.1:${ports.model}`))) {
      assert.equal(model.exitCode, null, "the scripted model's server ended at once");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return await use();
  } finally {
    model.kill("SIGKILL");
    await exitOf(model);
  }
}

function writeEvaluation(agent: string, tasks: unknown, settings: object, models?: unknown[]): void {
  mkdirSync(join(lab, agent, "eval", "input"), { recursive: true });
  writeFileSync(join(lab, agent, "eval", "input", "tasks.json"), JSON.stringify(tasks));
  const model = {
    ...MODEL,
    base_url: `http://127.0.0.1:${ports.model}/v1`,
    env: { OPENAI_API_KEY: "test-key" },
  };
  writeFileSync(
    join(lab, agent, "eval", "eval.yaml"),
    JSON.stringify({ evaluation: settings, models: models ?? [model] }),
  );
}

async function evaluate(
  agent: string,
  ...flags: string[]
): Promise<{ code: number | null; result: RunResult; stderr: string }> {
  const child = spawn(process.execPath, [BAT, "eval", "run", agent, "--json", ...flags], { cwd: lab, env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const { code } = await exitOf(child);
  assert.notEqual(stdout, "", stderr);
  return { code, result: JSON.parse(stdout) as RunResult, stderr };
}

function episodes({ directory, models }: RunResult, model = 0): Episode[] {
  const folder = join(directory, models[model]!.folder, "episodes");
  const found = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Episode,
  );
  assert.equal(found.length, models[model]!.planned, "an episode for every attempt");
  return found;
}

/** A model's `summary.json` and `metrics.json`. */
function results({ directory, models }: RunResult): [unknown, unknown] {
  const read = (name: string) => JSON.parse(readFileSync(join(directory, models[0]!.folder, name), "utf8"));
  return [read("summary.json"), read("metrics.json")];
}

/** The same two, as the reference wrote them. */
function recordedResults(folder: string): [Summary, Metrics] {
  return [recorded(`${folder}/summary.json`), recorded(`${folder}/metrics.json`)];
}

/** The processes of these tests that run now. */
function processesLeft(): string[] {
  const list = execFileSync("ps", ["eww", "-A", "-o", "pid=,command="], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return list.split("\n").filter((line) => line.includes(`${MARK}=${lab}`));
}

for (const concurrency of [1, 4]) {
  test(`desk: 17 tasks, three attempts each, ${concurrency} at once: every episode is the recorded one`, {
    timeout: 300_000,
  }, async () => {
    const tasks = recorded<unknown[]>("desk/tasks.json");
    writeEvaluation("desk", tasks, { k: 3, concurrency });
    const { code, result } = await withModel(() => evaluate("desk"));
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

test("supervisor: it calls the desk, whose steps nest in its own", { timeout: 300_000 }, async () => {
  const spans = join(lab, "desk-spans.jsonl");
  writeEvaluation("supervisor", recorded("supervisor/tasks.json"), {
    run_name: "delegation",
    extra_spans: spans,
  });
  const result = await withModel(async () => {
    await using _desk = await startDesk(spans);
    return await evaluate("supervisor");
  });
  assert.equal(result.code, 0, result.stderr);
  assert.deepEqual([result.result.state, result.result.carried_out], ["complete", 6]);
  const folder = "supervisor/output/delegation_openai-lab-model";
  for (const episode of episodes(result.result))
    assertEpisode(episode, recorded(`${folder}/episodes/${episode.task_id}__try0.json`), 0);
  assertResults(results(result.result), recordedResults(folder));
});

async function startDesk(spans: string): Promise<RunningAgent> {
  const file = join(lab, "desk", "config.yaml");
  const copy = join(lab, "desk-config.yaml");
  writeFileSync(copy, configWithTelemetry(readFileSync(file, "utf8"), file, spans));
  const more = {
    CONFIG_PATH: copy,
    OPENAI_API_KEY: "test-key",
    BASE_URL: `http://127.0.0.1:${ports.model}/v1`,
  };
  return await startAgent({
    name: "desk",
    command: ["uv", "run", ".", "desk"],
    cwd: lab,
    env: { ...(env as Record<string, string>), ...more },
    logFile: join(lab, "desk.log"),
    url: `http://localhost:${ports.desk}`,
    startupTimeoutMs: 60_000,
    shutdownTimeoutMs: 10_000,
    token: `test-${process.pid}-desk`,
    signal: new AbortController().signal,
  });
}

/** Fails unless an attempt whose agent died is the recorded one, but for the wording of what became of the stream. */
function assertKilled(episode: Episode, expected: Episode): void {
  assert.match(episode.final_output, /exit code 7/);
  assertEpisode({ ...episode, final_output: expected.final_output }, expected, 0);
}

test("an agent that kills itself is started anew: the task after it is carried out", {
  timeout: 300_000,
}, async () => {
  writeEvaluation("desk", recorded("desk-killed/tasks.json"), {});
  // As recorded, its model cannot be reached.
  const { code, result } = await evaluate("desk");
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
  const dotenv = join(lab, ".env");
  writeFileSync(dotenv, `OPENAI_API_KEY=test-key\nOPENAI_BASE_URL=http://127.0.0.1:${await freePort()}/v1\n`);
  const answers = {
    ...MODEL,
    base_url: `http://127.0.0.1:${ports.model}/v1`,
    env: { OPENAI_API_KEY: "test-key" },
  };
  writeEvaluation("desk", recorded("desk-two-models/tasks.json"), { run_name: "two" }, [
    { provider: "ollama", model: "not-there" },
    "openai:lab-model-2",
    answers,
  ]);
  const { code, result } = await withModel(() => evaluate("desk"));
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
  writeEvaluation("desk", tasks, { agent_shutdown_timeout_s: 5 });
  await withModel(async () => {
    const child = spawn(process.execPath, [BAT, "eval", "run", "desk"], { cwd: lab, env, stdio: "ignore" });
    const output = join(lab, "desk", "eval", "output");
    const earlier = existsSync(output) ? readdirSync(output) : [];
    const journal = () => {
      const run = existsSync(output)
        ? readdirSync(output).find((name) => !earlier.includes(name))
        : undefined;
      const file = join(output, run ?? "none", "journal.jsonl");
      return existsSync(file) ? readFileSync(file, "utf8") : "";
    };
    while (!journal().includes("attempt-finished")) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGKILL");
    await exitOf(child);
    const agents = () => processesLeft().filter((line) => !line.includes("scripted_model.py"));
    for (let i = 0; i < 200 && agents().length > 0; i += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(agents(), []);
    const resumed = spawnSync(process.execPath, [BAT, "eval", "resume", "--json"], {
      cwd: join(lab, "desk"),
      env,
      encoding: "utf8",
    });
    assert.equal(resumed.status, 0, resumed.stderr);
    const result = JSON.parse(resumed.stdout) as RunResult;
    assert.deepEqual([result.state, result.carried_out, result.problems], ["complete", 3, []]);
  });
});
