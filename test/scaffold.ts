/**
 * Makes agents with `bat init` and `bat add`, and then does with them what a user would: installs them from PyPI, runs
 * their own tests, starts them with `uv run` and evaluates them against a scripted model. Needs a Python ≥ 3.12 and
 * PyPI; brings uv itself.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort, isListening } from "../lib/agent/port.ts";
import type { RunResult } from "../lib/eval/observer.ts";
import { episodes } from "./_adk-lab.ts";
import { BAT, exitOf } from "./_evaluation.ts";
import { uvExports } from "./_uv.ts";

const MINUTES = 60_000;
const RULES = [
  { role: "user", last: "^Say hello", text: "Good day." },
  { role: "user", last: "^Are you sure", text: '{"answer": "Yes.", "confident": false}' },
  { role: "user", last: ".*", text: "What?" },
];

const folder = mkdtempSync(join(tmpdir(), "bat-scaffold-"));
let env: NodeJS.ProcessEnv;
let model: ChildProcess;
let modelPort: number;

before(
  async () => {
    env = { ...process.env, ...uvExports(join(tmpdir(), "bat-adk-cache")) };
    for (const name of ["NODE_TEST_CONTEXT", "OPENAI_API_KEY", "MODEL", "MODEL_PROVIDER", "BASE_URL"])
      delete env[name];
    modelPort = await freePort();
    writeFileSync(join(folder, "rules.json"), JSON.stringify(RULES));
    const script = fileURLToPath(new URL("../fixtures/adk/scripted_model.py", import.meta.url));
    const args = [script, String(modelPort), join(folder, "rules.json")];
    model = spawn(env.UV_PYTHON!, args, { env, stdio: ["ignore", "ignore", "inherit"] });
    while (!(await isListening(`http://127.0.0.1:${modelPort}`))) {
      assert.equal(model.exitCode, null, "the scripted model's server ended at once");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
  { timeout: 5 * MINUTES },
);
after(async () => {
  if (model !== undefined) {
    model.kill("SIGKILL");
    await exitOf(model);
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program in a project and fails with what it said when it fails. */
function run(cwd: string, ...[program, ...args]: [string, ...string[]]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: join(folder, cwd),
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout + stderr;
}

function bat(cwd: string, ...words: string[]): string {
  return run(cwd, process.execPath, BAT, ...words);
}

/** Evaluates an agent with one task; its answer. */
function ask(project: string, agent: string | null, message: string): string {
  const dir = join(folder, project, agent ?? "");
  mkdirSync(join(dir, "eval", "input"), { recursive: true });
  const tasks = [{ id: "one", turns: [message], expected: { status: "completed", max_model_calls: 1 } }];
  writeFileSync(join(dir, "eval", "input", "tasks.json"), JSON.stringify(tasks));
  const base_url = `http://127.0.0.1:${modelPort}/v1`;
  const models = [{ provider: "openai", model: "lab", base_url, env: { OPENAI_API_KEY: "test-key" } }];
  writeFileSync(join(dir, "eval", "eval.yaml"), JSON.stringify({ models }));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [BAT, "eval", "run", ...(agent === null ? [] : [agent]), "--json"],
    { cwd: join(folder, project), env, encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  const result = JSON.parse(stdout) as RunResult;
  const [episode] = episodes(result);
  assert.deepEqual([result.state, result.carried_out], ["complete", 1]);
  assert.equal(episode!.verdict.passed, true, `${episode!.verdict.reason}: ${episode!.final_output}`);
  return episode!.final_output;
}

test("a standalone agent passes its own tests without a key, and answers", {
  timeout: 10 * MINUTES,
}, async () => {
  bat(".", "init", "agent", "NetPlanAgent", "-c", "planner,weather", "--port", String(await freePort()));
  const said = run("netplanagent", "uv", "run", "python", "-m", "unittest");
  assert.match(said, /Ran 2 tests/);
  assert.equal(ask("netplanagent", null, "Say hello"), "Good day.");
});

test("a blueprint with three agents: each answers, a stranger's name is told", {
  timeout: 10 * MINUTES,
}, async () => {
  bat(".", "init", "blueprint", "Lab");
  const port = await freePort();
  bat("lab", "add", "agent", "desk", "--port", String(port));
  bat("lab", "add", "agent", "judge", "--template", "structured");
  bat("lab", "add", "agent", "Super_Visor", "-c", "a,b", "--privacy", "none");
  bat("lab/desk", "add", "client", "extra,second", "--template", "structured");
  assert.equal(ask("lab", "desk", "Say hello"), "Good day.");
  assert.equal(ask("lab", "judge", "Are you sure?"), "Yes. (not sure)");
  assert.equal(ask("lab", "super_visor", "Say hello"), "Good day.");
  run("lab", "uv", "run", "python", "-c", "import desk.src.llm_clients");
  const unknown = spawnSync("uv", ["run", ".", "nobody"], {
    cwd: join(folder, "lab"),
    env,
    encoding: "utf8",
  });
  assert.equal(unknown.status, 1);
  assert.match(unknown.stdout, /desk, judge, super_visor/);
  run("lab", "make", "-n", "desk");
});

test("an agent in TypeScript passes its own tests without a key, and answers", {
  timeout: 10 * MINUTES,
}, () => {
  bat(".", "init", "agent", "NodeAgent", "--runtime", "node");
  run("nodeagent", "npm", "install", "--no-audit", "--no-fund");
  run("nodeagent", "npm", "run", "types");
  run("nodeagent", "npm", "test");
  run("nodeagent", "npm", "ci", "--no-audit", "--no-fund");
  evaluateNodeAgent("nodeagent", "nodeagent");
});

test("a blueprint mixes agents in Python and TypeScript: each is evaluated by its name", {
  timeout: 10 * MINUTES,
}, () => {
  bat(".", "init", "blueprint", "mixed");
  bat("mixed", "add", "agent", "desk");
  bat("mixed", "add", "agent", "clerk", "--runtime", "node");
  run("mixed/clerk", "npm", "install", "--no-audit", "--no-fund");
  evaluateNodeAgent("mixed", "mixed/clerk", "clerk");
});

/** With the evaluation that it came with; only the model is another. */
function evaluateNodeAgent(cwd: string, dir: string, ...agent: string[]): void {
  const file = join(folder, dir, "eval", "eval.yaml");
  const model = { provider: "openai", model: "lab", base_url: `http://127.0.0.1:${modelPort}/v1` };
  const models = JSON.stringify([{ ...model, env: { OPENAI_API_KEY: "test-key" } }]);
  writeFileSync(file, readFileSync(file, "utf8").replace(/^models:.*/ms, `models: ${models}\n`));
  const { status, stdout, stderr } = spawnSync(process.execPath, [BAT, "eval", "run", ...agent, "--json"], {
    cwd: join(folder, cwd),
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const [episode] = episodes(JSON.parse(stdout) as RunResult);
  assert.equal(episode!.final_output, "What?");
  assert.deepEqual(
    [episode!.trace.trajectory.found, episode!.trace.trajectory.totals.model_calls],
    [true, 1],
  );
}

test("the Makefiles name the image and refuse to push nowhere", () => {
  bat(".", "init", "agent", "shipped");
  assert.match(run("shipped", "make", "-n", "build", "VERSION=1.2"), /--tag 'shipped:1\.2'/);
  const push = spawnSync("make", ["push"], { cwd: join(folder, "shipped"), env, encoding: "utf8" });
  assert.notEqual(push.status, 0);
  assert.match(push.stderr, /DOCKER_REGISTRY/);
  bat("shipped", "set", "image", "--docker-registry", "registry.example.com");
  assert.match(run("shipped", "make", "-n", "push"), /docker push 'registry\.example\.com\/shipped:/);
});

for (const provider of ["anthropic", "deepseek", "nvidia", "ollama"]) {
  test(`what an agent with ${provider} needs can be had`, { timeout: 5 * MINUTES }, () => {
    bat(".", "init", "agent", provider, "--model-provider", provider);
    run(provider, "uv", "lock");
    const lock = readFileSync(join(folder, provider, "uv.lock"), "utf8");
    assert.match(lock, new RegExp(`name = "langchain-${provider}`));
  });
}
