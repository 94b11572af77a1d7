import { styleText } from "node:util";
import type { World } from "../cli/command.ts";
import { fit } from "../cli/layout.ts";
import type { AttemptId, RunObserver, RunResult } from "../eval/observer.ts";
import { duration } from "./format.ts";

/** What shows a run's progress in this world: a live block on a terminal, a line an attempt elsewhere, nothing for JSON. */
export function observerFor(world: World, { json }: { json: boolean }): RunObserver {
  if (json) return new QuietProgress(world);
  return world.isTerminal.stderr ? new LiveProgress(world) : new LineProgress(world);
}

type Painter = (style: "green" | "red" | "yellow" | "dim" | "bold", text: string) => string;

function painter(world: World): Painter {
  return world.color && world.isTerminal.stderr
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

type Finished = Parameters<RunObserver["attemptFinished"]>[0];

/** Only what a person must know though machines read the output. */
class QuietProgress implements RunObserver {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  runStarted(): void {}
  modelStarted(): void {}
  modelReady(): void {}
  attemptStarted(): void {}
  attemptFinished(): void {}
  agentRestarted(): void {}
  runFinished(): void {}

  modelFailed({ model, message }: { model: string; message: string }): void {
    this.warning(`Model ${model} failed: ${message}`);
  }

  warning(message: string): void {
    this.#world.stderr.write(`Warning: ${message}\n`);
  }
}

/** One line for each thing that happens. */
class LineProgress implements RunObserver {
  protected readonly world: World;
  protected readonly paint: Painter;

  constructor(world: World) {
    this.world = world;
    this.paint = painter(world);
  }

  protected line(text: string): void {
    this.world.stderr.write(`${text}\n`);
  }

  runStarted({
    run,
    agent,
    models,
    tasks,
    k,
    planned,
    done,
    concurrency,
  }: Parameters<RunObserver["runStarted"]>[0]): void {
    const resumed = done > 0 ? `, ${done} of them done before` : "";
    const many = concurrency > 1 ? `, ${concurrency} at once` : "";
    this.line(
      `Run ${run}: ${agent}, ${models.length} model(s) × ${tasks} task(s) × ${k} = ${planned} attempts${resumed}${many}`,
    );
  }

  modelStarted({ model }: { model: string }): void {
    this.line(`${model}: starting the agent`);
  }

  modelReady({ model, url, start_ms }: { model: string; url: string; start_ms: number }): void {
    this.line(`${model}: ready at ${url} after ${duration(start_ms)}`);
  }

  modelFailed({ model, message }: { model: string; message: string }): void {
    this.line(`${this.paint("red", `${model}: failed`)}: ${message}`);
  }

  attemptStarted(_attempt: AttemptId): void {}

  attemptFinished(attempt: Finished): void {
    this.line(this.finishedText(attempt));
  }

  protected finishedText({
    task,
    attempt,
    outcome,
    passed,
    reason,
    wall_ms,
    tokens,
    done,
    planned,
  }: Finished): string {
    const verdict =
      outcome === "not-carried-out"
        ? this.paint("yellow", "not carried out")
        : passed
          ? this.paint("green", "passed")
          : this.paint("red", "failed");
    const why = passed ? "" : `: ${reason.replace(/\s+/g, " ")}`;
    return `[${done}/${planned}] ${task} try ${attempt} ${verdict} in ${duration(wall_ms)}, ${tokens} tokens${why}`;
  }

  agentRestarted({ exit, restarts, limit }: Parameters<RunObserver["agentRestarted"]>[0]): void {
    this.line(`${this.paint("yellow", "Agent died")}: ${exit}; started anew (${restarts} of ${limit})`);
  }

  warning(message: string): void {
    this.line(`${this.paint("yellow", "Warning:")} ${message}`);
  }

  runFinished(_result: RunResult): void {}
}

const REDRAW_MS = 100;
const SHOWN_ATTEMPTS = 6;
const SHOWN_FAILURES = 3;
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/** A block that is drawn again in place: how far, what runs, what failed last. */
class LiveProgress extends LineProgress {
  #drawn = 0;
  #last = 0;
  #timer: NodeJS.Timeout | undefined;
  #begun = 0;
  #state = { planned: 0, done: 0, passed: 0, failed: 0, missing: 0, model: "" };
  readonly #running = new Map<string, { text: string; since: number }>();
  #failures: string[] = [];
  readonly #restore = () => this.world.stderr.write(SHOW_CURSOR);

  override runStarted(run: Parameters<RunObserver["runStarted"]>[0]): void {
    super.runStarted(run);
    this.#begun = performance.now();
    this.#state.planned = run.planned;
    this.#state.done = run.done;
    this.world.stderr.write(HIDE_CURSOR);
    process.once("exit", this.#restore);
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    this.#timer.unref();
  }

  override modelStarted({ model }: { model: string }): void {
    this.#state.model = `${model}: starting the agent`;
    this.#draw();
  }

  override modelReady({ model }: { model: string; url: string; start_ms: number }): void {
    this.#state.model = model;
  }

  override attemptStarted({ model, task, attempt }: AttemptId): void {
    this.#running.set(`${model}/${task}/${attempt}`, {
      text: `${task} try ${attempt}`,
      since: performance.now(),
    });
  }

  override attemptFinished(attempt: Finished): void {
    this.#running.delete(`${attempt.model}/${attempt.task}/${attempt.attempt}`);
    this.#state.done = attempt.done;
    if (attempt.outcome === "not-carried-out") this.#state.missing += 1;
    else if (attempt.passed) this.#state.passed += 1;
    else this.#state.failed += 1;
    if (!attempt.passed)
      this.#failures = [...this.#failures, this.finishedText(attempt)].slice(-SHOWN_FAILURES);
    if (performance.now() - this.#last > REDRAW_MS) this.#draw();
  }

  protected override line(text: string): void {
    this.#clear();
    super.line(text);
  }

  override runFinished(): void {
    clearInterval(this.#timer);
    this.#clear();
    this.world.stderr.write(SHOW_CURSOR);
    process.off("exit", this.#restore);
  }

  #clear(): void {
    if (this.#drawn > 0) this.world.stderr.write(`\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    this.#last = performance.now();
    const columns =
      Math.max((this.world.stderr as { columns?: number }).columns ?? this.world.columns, 20) - 1;
    const lines = [this.#bar(columns), ...this.#attempts(), ...this.#failures.map((text) => `  ${text}`)];
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : "";
    const text = lines.map((line) => `\u001b[2K${fit(line, columns)}`).join("\n");
    this.world.stderr.write(`${up}${text}\u001b[J\n`);
    this.#drawn = lines.length;
  }

  #bar(columns: number): string {
    const { planned, done, passed, failed, missing, model } = this.#state;
    const width = Math.max(Math.min(30, columns - 60), 8);
    const filled = planned === 0 ? 0 : Math.round((done / planned) * width);
    const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
    const open = missing > 0 ? `, ${missing} not carried out` : "";
    const elapsed = duration(performance.now() - this.#begun);
    return `${bar} ${done}/${planned}  ${passed} passed, ${failed} failed${open}  ${elapsed}  ${model}`;
  }

  #attempts(): string[] {
    const now = performance.now();
    const shown = [...this.#running.values()].slice(0, SHOWN_ATTEMPTS);
    const lines = shown.map(({ text, since }) => `  ${text} … ${duration(now - since)}`);
    const more = this.#running.size - shown.length;
    return more > 0 ? [...lines, `  and ${more} more`] : lines;
  }
}
