import type { World } from "../cli/command.ts";
import type { AttemptId, RunObserver } from "../eval/observer.ts";
import { printable } from "../text/printable.ts";
import { duration } from "./format.ts";
import { type Line, LiveBlock, type Segment } from "./live-block.ts";
import { attemptLine, type FinishedAttempt, LineProgress } from "./progress.ts";

const REDRAW_MS = 100;
const MOST_MODELS = 4;
const MOST_RUNNING = 6;
const MOST_FAILURES = 3;
const BAR = 24;
/** From when on a guess is made how long the run will still take. */
const GUESS_FROM = { attempts: 3, ms: 3_000 };

interface ModelState {
  name: string;
  planned: number;
  done: number;
  passed: number;
  failed: number;
  missing: number;
  /** Episodes that wait for the judge; null without one. */
  waiting: number | null;
  /** Since when its agent is being started; null once it is ready. */
  starting: number | null;
  error: boolean;
}

/** What a run does at the moment, in a block that is drawn again ten times a second; what is to stay is written above. */
export class LiveProgress extends LineProgress {
  readonly #block: LiveBlock;
  #timer: NodeJS.Timeout | undefined;
  readonly #run = { planned: 0, done: 0, before: 0, begun: 0 };
  readonly #models = new Map<string, ModelState>();
  readonly #running = new Map<string, { text: string; since: number }>();
  #failures: Line[] = [];

  constructor(world: World) {
    super(world);
    this.#block = new LiveBlock(world.stderr, this.paint);
  }

  override runStarted(run: Parameters<RunObserver["runStarted"]>[0]): void {
    super.runStarted(run);
    Object.assign(this.#run, {
      planned: run.planned,
      done: run.done,
      before: run.done,
      begun: performance.now(),
    });
    this.#timer = setInterval(() => this.#block.draw(this.#lines()), REDRAW_MS);
    this.#timer.unref();
  }

  override modelStarted({ model, planned, done }: Parameters<RunObserver["modelStarted"]>[0]): void {
    const state = { name: printable(model), planned, done, passed: 0, failed: 0, missing: 0, waiting: null };
    this.#models.set(model, { ...state, starting: performance.now(), error: false });
  }

  override modelReady({ model }: Parameters<RunObserver["modelReady"]>[0]): void {
    const state = this.#models.get(model);
    if (state !== undefined) state.starting = null;
  }

  override modelFailed(failed: Parameters<RunObserver["modelFailed"]>[0]): void {
    const state = this.#models.get(failed.model);
    if (state !== undefined) Object.assign(state, { starting: null, error: true });
    super.modelFailed(failed);
  }

  override attemptStarted({ model, task, attempt }: AttemptId): void {
    const text = `${printable(task)} try ${attempt}`;
    this.#running.set(keyOf({ model, task, attempt }), { text, since: performance.now() });
  }

  override attemptFinished(attempt: FinishedAttempt): void {
    this.#running.delete(keyOf(attempt));
    this.#run.done = attempt.done;
    const state = this.#models.get(attempt.model);
    if (state !== undefined) {
      state.done += 1;
      if (attempt.outcome === "not-carried-out") state.missing += 1;
      else if (attempt.passed) state.passed += 1;
      else state.failed += 1;
    }
    if (!attempt.passed)
      this.#failures = [...this.#failures, attemptLine(attempt, this.#models.size > 1)].slice(-MOST_FAILURES);
  }

  override judging(left: { model: string; waiting: number }): void {
    this.judged(left);
  }

  override judged({ model, waiting }: { model: string; waiting: number }): void {
    const state = this.#models.get(model);
    if (state !== undefined) state.waiting = waiting;
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    clearInterval(this.#timer);
    this.#block.clear();
  }

  /** The block goes and comes back below with its next drawing. */
  protected override line(text: string): void {
    this.#block.clear(`${text}\n`);
  }

  #lines(): Line[] {
    const now = performance.now();
    const models = [...this.#models.values()].slice(-MOST_MODELS).map((model) => this.#modelLine(model, now));
    const room = this.#block.height - models.length - 1;
    const failures = this.#failures.slice(0, Math.max(0, room)).map((line): Line => [["  "], ...line]);
    return [...models, ...this.#runningLines(now, room - failures.length), ...failures, this.#totalLine(now)];
  }

  #modelLine(
    { name, planned, done, passed, failed, missing, waiting, starting, error }: ModelState,
    now: number,
  ): Line {
    const filled = planned === 0 ? 0 : Math.floor((done / planned) * BAR);
    const segments: Segment[] = [
      ["█".repeat(filled), "green"],
      ["░".repeat(BAR - filled), "dim"],
      [` ${done}/${planned} `],
      [name, "bold"],
    ];
    if (starting !== null) return [...segments, [`  starting the agent, ${duration(now - starting)}`]];
    segments.push(["  "], [`${passed} passed`, "green"]);
    if (failed > 0) segments.push([", "], [`${failed} failed`, "red"]);
    if (missing > 0) segments.push([", "], [`${missing} not carried out`, "yellow"]);
    if (waiting !== null && waiting > 0) segments.push([`, ${waiting} to be judged`, "dim"]);
    if (error) segments.push([", "], ["could not go on", "red"]);
    return segments;
  }

  #runningLines(now: number, room: number): Line[] {
    const most = Math.min(MOST_RUNNING, room);
    if (most < 1) return [];
    const all = [...this.#running.values()];
    const shown = all.slice(0, all.length > most ? most - 1 : most);
    const lines = shown.map(({ text, since }): Line => [[`  ${text} … ${duration(now - since)}`]]);
    const more = all.length - shown.length;
    return more > 0 ? [...lines, [[`  and ${more} more at once`, "dim"]]] : lines;
  }

  #totalLine(now: number): Line {
    const { planned, done, before, begun } = this.#run;
    const elapsed = now - begun;
    const fresh = done - before;
    const guess = fresh >= GUESS_FROM.attempts && elapsed >= GUESS_FROM.ms && done < planned;
    const left = guess ? `, about ${duration((elapsed / fresh) * (planned - done))} left` : "";
    return [[`${done} of ${planned} attempts after ${duration(elapsed)}${left}`, "dim"]];
  }
}

function keyOf({ model, task, attempt }: AttemptId): string {
  return JSON.stringify([model, task, attempt]);
}
