import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
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
import { fileURLToPath } from "node:url";
import type { Episode } from "../lib/eval/episode.ts";
import type { RunResult } from "../lib/eval/observer.ts";

export const BAT = fileURLToPath(new URL("../bin/bat.ts", import.meta.url));
const AGENT = fileURLToPath(new URL("../fixtures/demo/agent.ts", import.meta.url));

export interface Task {
  id: string;
  turns: string[];
  expected?: Record<string, unknown>;
}

/** A folder with an evaluation of the demo agent, used through the real command line. */
export class Evaluation implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "bat-eval-"));

  constructor(
    tasks: readonly Task[],
    settings: Record<string, unknown> = {},
    more: Record<string, unknown> = {},
  ) {
    mkdirSync(join(this.folder, "eval", "input"), { recursive: true });
    this.tasks(tasks);
    const config = {
      evaluation: settings,
      agent: { url: "http://127.0.0.1:0", command: [process.execPath, AGENT] },
      models: ["scripted:one"],
      ...more,
    };
    this.configure(config);
  }

  /** What stands in `eval.yaml`. */
  settings(): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.folder, "eval", "eval.yaml"), "utf8")) as Record<
      string,
      unknown
    >;
  }

  configure(config: Record<string, unknown>): void {
    // JSON is YAML.
    writeFileSync(join(this.folder, "eval", "eval.yaml"), JSON.stringify(config));
  }

  tasks(tasks: readonly Task[]): void {
    writeFileSync(join(this.folder, "eval", "input", "tasks.json"), JSON.stringify(tasks));
  }

  bat(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, [BAT, ...args], {
      cwd: this.folder,
      encoding: "utf8",
      env: cleanEnv(),
    });
  }

  /** `bat eval … --json`, with its result. */
  json(...args: string[]): { status: number | null; result: RunResult; stderr: string } {
    const { status, stdout, stderr } = this.bat(...args, "--json");
    if (stdout === "") throw new Error(`bat ${args.join(" ")} printed nothing (exit ${status}): ${stderr}`);
    return { status, result: JSON.parse(stdout) as RunResult, stderr };
  }

  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, [BAT, ...args], {
      cwd: this.folder,
      env: cleanEnv(),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  get runs(): string[] {
    const output = join(this.folder, "eval", "output");
    return existsSync(output) ? readdirSync(output).sort() : [];
  }

  /** A file of the newest run. */
  file(...parts: string[]): string {
    return join(this.folder, "eval", "output", this.runs[this.runs.length - 1]!, ...parts);
  }

  read<T>(...parts: string[]): T {
    return JSON.parse(readFileSync(this.file(...parts), "utf8")) as T;
  }

  episode(name: string, folder = "benchmark_scripted-one"): Episode {
    return this.read<Episode>(folder, "episodes", `${name}.json`);
  }

  /** All that a run left, without what differs from run to run by nature. */
  normalised(): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    for (const folder of readdirSync(this.file()).filter((name) => name.startsWith("benchmark_"))) {
      for (const name of ["summary.json", "metrics.json"]) {
        if (existsSync(this.file(folder, name)))
          found[`${folder}/${name}`] = withoutTimes(this.read(folder, name));
      }
      for (const name of readdirSync(this.file(folder, "episodes")).sort()) {
        found[`${folder}/episodes/${name}`] = withoutTimes(this.read(folder, "episodes", name));
      }
    }
    return found;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function cleanEnv(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, NO_COLOR: __, ...env } = process.env;
  return env;
}

const TIMES = /^(t_ms|wall_ms|.*_wall_ms|timestamp_utc|agent_url|context_id|p50|p95|total)$/;

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, TIMES.test(key) ? "…" : withoutTimes(item)]),
  );
}

/** Processes that carry the token of any run below a folder. */
export function leftBehind(evaluation: Evaluation): string[] {
  const tokens = evaluation.runs.map((run) => {
    const plan = join(evaluation.folder, "eval", "output", run, "run.json");
    return existsSync(plan) ? (JSON.parse(readFileSync(plan, "utf8")) as { token: string }).token : "no run";
  });
  const list = spawnSync("ps", ["eww", "-A", "-o", "pid=,command="], { encoding: "utf8" }).stdout.split("\n");
  return list.filter((line) => tokens.some((token) => line.includes(token)));
}

/** Waits until nothing of an evaluation's runs is left, at most ten seconds. Returns what is. */
export async function untilGone(evaluation: Evaluation): Promise<string[]> {
  for (let i = 0; i < 200; i += 1) {
    const left = leftBehind(evaluation);
    if (left.length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return leftBehind(evaluation);
}

export async function exitOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode !== null || child.signalCode !== null)
    return { code: child.exitCode, signal: child.signalCode };
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  return { code, signal };
}
