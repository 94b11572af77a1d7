import { PassThrough, Writable } from "node:stream";
import type { World } from "../lib/cli/command.ts";
import type { ModelResult, RunResult, TaskResult } from "../lib/eval/observer.ts";
import { passAtK, passHatK, wilson } from "../lib/eval/statistics.ts";
import { Screen } from "./_screen.ts";

/** A terminal in memory: what is written to it is seen on its screen. */
export class Terminal extends Writable {
  readonly screen: Screen;
  bytes = 0;
  writes = 0;

  constructor(columns: number, rows: number) {
    super();
    this.screen = new Screen(columns, rows);
  }

  get columns(): number {
    return this.screen.columns;
  }

  get rows(): number {
    return this.screen.rows;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.bytes += chunk.length;
    this.writes += 1;
    this.screen.write(chunk.toString("utf8"));
    done();
  }

  /** Resolves when what is seen fits a pattern. */
  async shows(pattern: RegExp): Promise<void> {
    for (let tries = 0; !pattern.test(this.screen.text); tries += 1) {
      if (tries > 500) throw new Error(`${pattern} is not on the screen:\n${this.screen.text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** A world whose stderr is a terminal, or collects text. */
export function worldWith(more: Partial<World> & { terminal?: Terminal } = {}): World {
  const { terminal, ...rest } = more;
  return {
    cwd: "/work",
    env: {},
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: terminal ?? new Terminal(1_000, 1_000),
    isTerminal: { stdin: false, stdout: terminal !== undefined, stderr: terminal !== undefined },
    color: false,
    columns: terminal?.columns ?? 80,
    signal: new AbortController().signal,
    now: () => new Date(0),
    ...rest,
  };
}

export function taskResult(
  id: string,
  passed: number,
  carriedOut: number,
  more: Partial<TaskResult> = {},
): TaskResult {
  const ks = Array.from({ length: carriedOut }, (_, i) => i + 1);
  const failures = Array.from({ length: carriedOut - passed }, (_, i) => ({
    attempt: passed + i,
    outcome: "carried-out" as const,
    reason: "output: missing 'x'",
    episode: `m/episodes/${id}__try${passed + i}.json`,
  }));
  return {
    task_id: id,
    planned: carriedOut,
    carried_out: carriedOut,
    passed,
    failed: carriedOut - passed,
    pass_rate: wilson(passed, carriedOut),
    pass_at_k: Object.fromEntries(ks.map((k) => [k, passAtK(carriedOut, passed, k)!])),
    pass_hat_k: Object.fromEntries(ks.map((k) => [k, passHatK(carriedOut, passed, k)!])),
    tokens: { in: 100 * carriedOut, out: 10 * carriedOut, cached: 0 },
    wall_ms: carriedOut === 0 ? null : { p50: 1_200, p95: 2_000, total: 1_200 * carriedOut },
    failures,
    ...more,
  };
}

export function modelResult(
  model: string,
  tasks: TaskResult[],
  more: Partial<ModelResult> = {},
): ModelResult {
  const sum = (key: "planned" | "carried_out" | "passed" | "failed") =>
    tasks.reduce((total, task) => total + task[key], 0);
  return {
    model,
    folder: "m",
    planned: sum("planned"),
    carried_out: sum("carried_out"),
    passed: sum("passed"),
    failed: sum("failed"),
    pass_rate: wilson(sum("passed"), sum("carried_out")),
    tokens: { in: 1_000, out: 100, cached: 0 },
    wall_ms: { p50: 1_200, p95: 2_000, total: 12_000 },
    error: null,
    restarts: 0,
    qualitative: {},
    judging: {},
    tasks,
    ...more,
  };
}

export function runResult(models: ModelResult[], more: Partial<RunResult> = {}): RunResult {
  const sum = (key: "planned" | "carried_out" | "passed" | "failed") =>
    models.reduce((total, model) => total + model[key], 0);
  return {
    run: "20260102_030405",
    directory: "/work/eval/output/20260102_030405",
    state: "complete",
    problems: [],
    planned: sum("planned"),
    carried_out: sum("carried_out"),
    passed: sum("passed"),
    failed: sum("failed"),
    models,
    elapsed_ms: 65_000,
    exit_code: 0,
    ...more,
  };
}
