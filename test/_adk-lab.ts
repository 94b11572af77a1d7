/** A blueprint with real bat-adk agents and a scripted model, for the tests of `test/adk.ts`. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RunningAgent, startAgent } from "../lib/agent/agent.ts";
import { freePort, isListening } from "../lib/agent/port.ts";
import type { Episode } from "../lib/eval/episode.ts";
import type { RunResult } from "../lib/eval/observer.ts";
import { configWithTelemetry } from "../lib/project/config-copy.ts";
import { BAT, exitOf } from "./_evaluation.ts";
import { uvExports } from "./_uv.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Kept from one run of the tests to the next, so that only the first one installs. */
const cache = join(tmpdir(), "bat-adk-cache");
/** Every process of these tests has it in its environment, so that those left are found. */
const MARK = "BAT_ADK_LAB";

export class Lab implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "bat-adk-"));
  readonly env: NodeJS.ProcessEnv;
  private readonly configs = new Map<string, Buffer>();
  private readonly ports: Record<"desk" | "supervisor" | "model", number>;

  private constructor(env: NodeJS.ProcessEnv, ports: Lab["ports"]) {
    this.env = { ...env, [MARK]: this.folder };
    this.ports = ports;
  }

  /** Copies the blueprint, on ports of its own, and installs what its agents need. Fails saying what cannot be had. */
  static async prepare(): Promise<Lab> {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      ...uvExports(cache),
      UV_PROJECT_ENVIRONMENT: join(cache, "env"),
    };
    delete env.NODE_TEST_CONTEXT;
    const ports = { desk: await freePort(), supervisor: await freePort(), model: await freePort() };
    const lab = new Lab(env, ports);
    cpSync(join(root, "fixtures", "adk"), lab.folder, { recursive: true });
    for (const agent of ["desk", "supervisor"]) {
      const file = lab.path(agent, "config.yaml");
      const text = readFileSync(file, "utf8");
      const port = (found: string) => String(found === "9921" ? ports.desk : ports.supervisor);
      writeFileSync(file, text.replace(/\b992[12]\b/g, port));
      lab.configs.set(file, readFileSync(file));
    }
    const synced = spawnSync("uv", ["sync"], { cwd: lab.folder, env: lab.env, encoding: "utf8" });
    const trouble = `These tests need bat-adk from PyPI, which cannot be installed: ${synced.stderr}`;
    assert.equal(synced.status, 0, trouble);
    return lab;
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** The model that the scripted server answers for. */
  get model(): Record<string, unknown> {
    const base_url = `http://127.0.0.1:${this.ports.model}/v1`;
    return { provider: "openai", model: "lab-model", base_url, env: { OPENAI_API_KEY: "test-key" } };
  }

  /** The scripted model, its rules fresh, for the length of one evaluation. */
  async withModel<T>(use: () => Promise<T>): Promise<T> {
    const args = ["scripted_model.py", String(this.ports.model), "model-rules.json"];
    const model = spawn(join(cache, "env", "bin", "python"), args, {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    try {
      while (!(await isListening(`http://127.0.0.1:${this.ports.model}`))) {
        assert.equal(model.exitCode, null, "the scripted model's server ended at once");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return await use();
    } finally {
      model.kill("SIGKILL");
      await exitOf(model);
    }
  }

  writeEvaluation(
    agent: string,
    tasks: unknown,
    settings: object,
    models: unknown[] = [this.model],
    more: object = {},
  ): void {
    mkdirSync(this.path(agent, "eval", "input"), { recursive: true });
    writeFileSync(this.path(agent, "eval", "input", "tasks.json"), JSON.stringify(tasks));
    // JSON is YAML.
    writeFileSync(
      this.path(agent, "eval", "eval.yaml"),
      JSON.stringify({ evaluation: settings, models, ...more }),
    );
  }

  /** `bat eval run AGENT --json`, with its result. */
  async evaluate(agent: string): Promise<{ code: number | null; result: RunResult; stderr: string }> {
    const args = [BAT, "eval", "run", agent, "--json"];
    const child = spawn(process.execPath, args, { cwd: this.folder, env: this.env });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      stderr += chunk;
    });
    const [code] = (await once(child, "close")) as [number | null];
    assert.notEqual(stdout, "", stderr);
    return { code, result: JSON.parse(stdout) as RunResult, stderr };
  }

  /** The desk as its supervisor needs it: running, its spans in a file of its own. */
  async startDesk(spans: string): Promise<RunningAgent> {
    const file = this.path("desk", "config.yaml");
    const copy = this.path("desk-config.yaml");
    writeFileSync(copy, configWithTelemetry(readFileSync(file, "utf8"), file, spans));
    const more = {
      CONFIG_PATH: copy,
      OPENAI_API_KEY: "test-key",
      BASE_URL: `http://127.0.0.1:${this.ports.model}/v1`,
    };
    return await startAgent({
      name: "desk",
      command: ["uv", "run", ".", "desk"],
      cwd: this.folder,
      env: { ...(this.env as Record<string, string>), ...more },
      logFile: this.path("desk.log"),
      url: `http://localhost:${this.ports.desk}`,
      startupTimeoutMs: 60_000,
      shutdownTimeoutMs: 10_000,
      token: `test-${process.pid}-desk`,
      signal: new AbortController().signal,
    });
  }

  /** The processes of these tests that run now. */
  processesLeft(): string[] {
    const list = execFileSync("ps", ["eww", "-A", "-o", "pid=,command="], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    return list.split("\n").filter((line) => line.includes(`${MARK}=${this.folder}`));
  }

  /** Fails when an agent's `config.yaml`, which is the user's, is another than it was. */
  assertConfigsUntouched(): void {
    for (const [file, text] of this.configs)
      assert.ok(readFileSync(file).equals(text), `${file} is as the user wrote it, byte for byte`);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The episodes that a run wrote for one of its models, one for each planned attempt. */
export function episodes({ directory, models }: RunResult, model = 0): Episode[] {
  const folder = join(directory, models[model]!.folder, "episodes");
  const found = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Episode,
  );
  assert.equal(found.length, models[model]!.planned, "an episode for every attempt");
  return found;
}

/** The `summary.json` and `metrics.json` that a run wrote for its first model. */
export function results({ directory, models }: RunResult): [unknown, unknown] {
  const read = (name: string) => JSON.parse(readFileSync(join(directory, models[0]!.folder, name), "utf8"));
  return [read("summary.json"), read("metrics.json")];
}
