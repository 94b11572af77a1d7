import type { World } from "../cli/command.ts";
import type { AttemptId, RunObserver, RunResult } from "../eval/observer.ts";
import { printable } from "../text/printable.ts";
import { duration } from "./format.ts";
import type { Line } from "./live-block.ts";
import { type Painter, painter } from "./paint.ts";

export type FinishedAttempt = Parameters<RunObserver["attemptFinished"]>[0];

/** A finished attempt in one line: place, verdict, cost, and the reason where it did not pass. */
export function attemptLine(attempt: FinishedAttempt, withModel: boolean): Line {
  const { model, task, attempt: n, outcome, passed, reason, wall_ms, tokens, done, planned } = attempt;
  const of = withModel ? ` of ${printable(model)}` : "";
  const verdict =
    outcome === "not-carried-out"
      ? (["not carried out", "yellow"] as const)
      : passed
        ? (["passed", "green"] as const)
        : (["failed", "red"] as const);
  const why = passed ? "" : `: ${printable(reason)}`;
  return [
    [`[${done}/${planned}] ${printable(task)} try ${n}${of} `],
    verdict,
    [` in ${duration(wall_ms)}, ${tokens} tokens${why}`],
  ];
}

/** Only what a person must know though machines read the output. */
export class QuietProgress implements RunObserver, Disposable {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  runStarted(): void {}
  modelStarted(): void {}
  modelReady(): void {}
  attemptStarted(): void {}
  attemptFinished(): void {}
  judging(): void {}
  judged(): void {}
  agentRestarted(): void {}
  runFinished(): void {}
  [Symbol.dispose](): void {}

  modelFailed({ model, message }: { model: string; message: string }): void {
    this.#world.stderr.write(`Model ${printable(model)} failed: ${message}\n`);
  }

  warning(message: string): void {
    this.#world.stderr.write(`Warning: ${message}\n`);
  }
}

/** One line for each thing that happens. */
export class LineProgress implements RunObserver, Disposable {
  protected readonly world: World;
  protected readonly paint: Painter;
  #severalModels = false;
  readonly #stopping = () =>
    this.line("Stopping the agent; what is finished is kept. Ctrl-C once more ends at once");

  constructor(world: World) {
    this.world = world;
    this.paint = painter(world.color && world.isTerminal.stderr);
    world.signal.addEventListener("abort", this.#stopping, { once: true });
  }

  [Symbol.dispose](): void {
    this.world.signal.removeEventListener("abort", this.#stopping);
  }

  protected line(text: string): void {
    this.world.stderr.write(`${text}\n`);
  }

  runStarted(run: Parameters<RunObserver["runStarted"]>[0]): void {
    this.#severalModels = run.models.length > 1;
    const resumed = run.done > 0 ? `, ${run.done} of them done before` : "";
    const many = run.concurrency > 1 ? `, ${run.concurrency} at once` : "";
    const size = `${count(run.models.length, "model")} × ${count(run.tasks, "task")} × ${run.k}`;
    this.line(
      `Run ${run.run}: ${printable(run.agent)}, ${size} = ${count(run.planned, "attempt")}${resumed}${many}`,
    );
  }

  modelStarted({ model }: Parameters<RunObserver["modelStarted"]>[0]): void {
    this.line(`${printable(model)}: starting the agent`);
  }

  modelReady({ model, url, start_ms }: { model: string; url: string; start_ms: number }): void {
    this.line(`${printable(model)}: ready at ${url} after ${duration(start_ms)}`);
  }

  modelFailed({ model, message }: Parameters<RunObserver["modelFailed"]>[0]): void {
    this.line(`${this.paint("red", `${printable(model)}: failed`)}: ${message}`);
  }

  attemptStarted(_attempt: AttemptId): void {}

  attemptFinished(attempt: FinishedAttempt): void {
    const line = attemptLine(attempt, this.#severalModels);
    this.line(line.map(([text, style]) => (style === undefined ? text : this.paint(style, text))).join(""));
  }

  judging({ model, waiting }: { model: string; waiting: number }): void {
    this.line(`${printable(model)}: the judge has ${count(waiting, "episode")} left`);
  }

  judged(_judged: { model: string; waiting: number }): void {}

  agentRestarted({ exit, restarts, limit }: Parameters<RunObserver["agentRestarted"]>[0]): void {
    this.line(
      `${this.paint("yellow", "Agent died")}: ${printable(exit)}; started anew (${restarts} of ${limit})`,
    );
  }

  warning(message: string): void {
    this.line(`${this.paint("yellow", "Warning:")} ${message}`);
  }

  runFinished(_result: RunResult): void {
    this[Symbol.dispose]();
  }
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
