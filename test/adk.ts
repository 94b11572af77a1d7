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
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type RunningAgent, startAgent } from "../lib/agent/agent.ts";
import { freePort, isListening } from "../lib/agent/port.ts";
import type { Episode } from "../lib/eval/episode.ts";
import type { RunResult } from "../lib/eval/observer.ts";
import { configWithTelemetry } from "../lib/project/config-copy.ts";
import { BAT, exitOf } from "./_evaluation.ts";
import { assertEpisode, recorded } from "./_golden.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(tmpdir(), "bat-adk-cache");
const MODEL = { provider: "openai", model: "lab-model" };

let env: NodeJS.ProcessEnv = {};
let lab = "";
const ports = { desk: 0, supervisor: 0, model: 0 };

before(
  async () => {
    env = { ...process.env, ...uvExports(), UV_PROJECT_ENVIRONMENT: join(cache, "env") };
    delete env.NODE_TEST_CONTEXT;
    lab = mkdtempSync(join(tmpdir(), "bat-adk-"));
    cpSync(join(root, "fixtures", "adk"), lab, { recursive: true });
    for (const name of ["desk", "supervisor", "model"] as const) ports[name] = await freePort();
    for (const agent of ["desk", "supervisor"]) {
      const file = join(lab, agent, "config.yaml");
      const text = readFileSync(file, "utf8")
        .replaceAll("9921", String(ports.desk))
        .replaceAll("9922", String(ports.supervisor));
      writeFileSync(file, text);
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
      stdio: "ignore",
    },
  );
  try {
    while (!(await isListening(`http://127.0.0.1:${ports.model}`)))
      await new Promise((resolve) => setTimeout(resolve, 50));
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
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Episode);
}

function agentsRunning(): string[] {
  const list = execFileSync("ps", ["-A", "-o", "pid=,command="], { encoding: "utf8" }).split("\n");
  return list.filter(
    (line) => / \. (desk|supervisor)$/.test(line) || line.includes(join(cache, "env", "bin", "python")),
  );
}

for (const concurrency of [1, 4]) {
  test(`desk: 17 tasks, three attempts each, ${concurrency} at once: every episode is the recorded one`, {
    timeout: 300_000,
  }, async () => {
    const tasks = recorded<unknown[]>("desk/tasks.json");
    writeEvaluation("desk", tasks, { k: 3, concurrency });
    const config = readFileSync(join(lab, "desk", "config.yaml"), "utf8");
    const { code, result } = await withModel(() => evaluate("desk"));
    assert.equal(code, 0);
    assert.deepEqual([result.state, result.carried_out, result.passed], ["complete", 51, 27]);
    for (const episode of episodes(result)) {
      const attempt = episode.aux.attempt_index;
      const name = `${episode.task_id.replace(/[^\w.-]/g, "_")}__try${attempt % 2}`;
      assertEpisode(
        episode,
        recorded(`desk/output/benchmark_openai-lab-model/episodes/${name}.json`),
        attempt,
      );
    }
    assert.equal(
      readFileSync(join(lab, "desk", "config.yaml"), "utf8"),
      config,
      "the user's file is as it was",
    );
    assert.deepEqual(agentsRunning(), []);
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
  for (const episode of episodes(result.result)) {
    assertEpisode(
      episode,
      recorded(`supervisor/output/delegation_openai-lab-model/episodes/${episode.task_id}__try0.json`),
      0,
    );
  }
  assert.deepEqual(agentsRunning(), []);
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

test("an agent that kills itself is started anew: the task after it is carried out", {
  timeout: 300_000,
}, async () => {
  writeEvaluation("desk", recorded("desk-killed/tasks.json"), {});
  const { code, result } = await withModel(() => evaluate("desk"));
  assert.equal(code, 0);
  const byTask = new Map(episodes(result).map((episode) => [episode.task_id, episode]));
  assert.equal(byTask.get("before")!.verdict.passed, true);
  const killed = byTask.get("killed")!;
  assert.equal(killed.verdict.reason, "status: got 'error', expected 'completed'");
  assert.match(killed.final_output, /exit code 7/);
  const expected = recorded<Episode>(
    "desk-killed/output/benchmark_openai-lab-model/episodes/killed__try0.json",
  );
  assert.deepEqual(killed.trace.trajectory, expected.trace.trajectory);
  assert.equal(byTask.get("after")!.verdict.passed, true);
  assert.equal(result.models[0]?.restarts, 1);
});

test("of two models one cannot start: its reason is told, the other is evaluated, and the exit code says so", {
  timeout: 300_000,
}, async () => {
  const good = {
    ...MODEL,
    model: "lab-model-2",
    base_url: `http://127.0.0.1:${ports.model}/v1`,
    env: { OPENAI_API_KEY: "test-key" },
  };
  writeEvaluation("desk", [{ id: "before", turns: ["Say hello"] }], {}, [
    { provider: "ollama", model: "not-there" },
    good,
  ]);
  const { code, result } = await withModel(() => evaluate("desk"));
  assert.equal(code, 1);
  assert.match(
    result.models[0]?.error ?? "",
    /stopped before it was ready \(exit code 1\).*langchain-ollama/s,
  );
  assert.deepEqual([result.models[1]?.carried_out, result.models[1]?.passed], [1, 1]);
  assert.equal(episodes(result, 1)[0]?.verdict.passed, true);
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
    for (let i = 0; i < 200 && agentsRunning().some((line) => line.includes("desk")); i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(
      agentsRunning().filter((line) => line.includes("desk")),
      [],
    );
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
