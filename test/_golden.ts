import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Episode, EpisodeEvent } from "../lib/eval/episode.ts";
import type { Step } from "../lib/trace/trajectory.ts";

const GOLDEN = fileURLToPath(new URL("../fixtures/golden/runs/", import.meta.url));

/** A recorded run's file. */
export function recorded<T>(path: string): T {
  return JSON.parse(readFileSync(GOLDEN + path, "utf8")) as T;
}

/** What must be equal in an episode and its recorded one: all but times, addresses and ids. */
export function comparable({ trace, verdict, aux, judging: _, ...rest }: Episode): unknown {
  return {
    ...rest,
    verdict: { passed: verdict.passed, reason: verdict.reason },
    attempt: aux.attempt_index,
    events: trace.events.map(({ t_ms: _, ...event }) => event),
    tool_calls: [...trace.tool_calls].sort(byText),
    trajectory: {
      ...trace.trajectory,
      turns: trace.trajectory.turns.map((turn) => ({ ...turn, steps: inOrder(turn.steps) })),
    },
  };
}

/**
 * A follow-up to a question names the task that asked (A2A's own rule), so the agent does not begin with a new task: the
 * reference, which names none, has that empty first event more. Everything else is told alike.
 */
function asFollowUp(events: readonly EpisodeEvent[]): EpisodeEvent[] {
  const told: EpisodeEvent[] = [];
  let asked: string | null = null;
  for (const [i, event] of events.entries()) {
    const answersQuestion = events[i - 1]?.task_status === "input-required" && event.user_input !== null;
    if (answersQuestion && event.task_status === "working" && event.content_preview === "") {
      asked = event.user_input;
      continue;
    }
    told.push(asked === null ? event : { ...event, user_input: asked });
    asked = null;
  }
  return told;
}

/** Tools that a model called at once begin in any order. */
function inOrder(steps: readonly Step[]): unknown[] {
  const ordered: unknown[] = [];
  let together: unknown[] = [];
  for (const step of steps) {
    const inner = "steps" in step ? { ...step, steps: inOrder(step.steps) } : step;
    if (step.kind === "tool") together.push(inner);
    else {
      ordered.push(...together.sort(byText), inner);
      together = [];
    }
  }
  return [...ordered, ...together.sort(byText)];
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Fails unless an episode is the recorded one, apart from what differs from run to run by nature. */
export function assertEpisode(actual: Episode, expected: Episode, attempt: number): void {
  const wanted = {
    ...expected,
    aux: { ...expected.aux, attempt_index: attempt },
    trace: { ...expected.trace, events: asFollowUp(expected.trace.events) },
  };
  assert.deepEqual(comparable(actual), comparable(wanted), `${actual.task_id} try ${attempt}`);
}

/** `summary.json` as the reference writes it. */
export interface Summary {
  k: number;
  passed: number;
  attempts: { task_id: string; attempts: number; passed: number; failed: number }[];
}

/** `metrics.json` as the reference writes it. */
export interface Metrics {
  per_episode: { task_id: string; time: unknown }[];
  summary: { time: unknown; tokens: Record<string, number>; [key: string]: unknown };
}

/**
 * What the reference would have written after `k` attempts at each task, from its run with fewer: an agent whose model is
 * scripted does the same each time, so counts and sums grow and averages and shares stay.
 */
export function withAttempts(summary: Summary, metrics: Metrics, k: number): [Summary, Metrics] {
  const times = k / summary.k;
  const attempts = summary.attempts.map((task) => ({
    ...task,
    attempts: k,
    passed: task.passed * times,
    failed: task.failed * times,
  }));
  const episodes = summary.attempts.flatMap((_, task) =>
    Array.from({ length: k }, (_, attempt) => metrics.per_episode[task * summary.k + (attempt % summary.k)]!),
  );
  const sums = (values: Record<string, unknown>, names: RegExp) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, names.test(key) ? Number(value) * times : value]),
    );
  const total = {
    ...sums(metrics.summary, /^(episodes|k_attempts|total_runs|passed|failed)$/),
    time: metrics.summary.time,
    tokens: sums(metrics.summary.tokens, /_total$/) as Record<string, number>,
  };
  return [
    { ...summary, k, passed: summary.passed * times, attempts },
    { per_episode: episodes, summary: total },
  ];
}

/** Fails unless a model's `summary.json` and `metrics.json` are the recorded ones; times aside, keys of ours beside. */
export function assertResults(actual: [unknown, unknown], expected: [Summary, Metrics]): void {
  const times = /^(timestamp_utc|wall_ms|.*_wall_ms)$/;
  for (const [i, file] of ["summary.json", "metrics.json"].entries())
    assert.deepEqual(alike(actual[i], expected[i], times), alike(expected[i], expected[i], times), file);
}

/** The part of a value that another one has too, with what is named by `apart` only told to be there. */
function alike(actual: unknown, like: unknown, apart: RegExp): unknown {
  if (Array.isArray(like) && Array.isArray(actual))
    return actual.map((item, i) => alike(item, like[i], apart));
  if (typeof like !== "object" || like === null || typeof actual !== "object" || actual === null)
    return actual;
  const entries = Object.entries(actual).filter(([key]) => key in like);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      apart.test(key) ? typeof value : alike(value, (like as Record<string, unknown>)[key], apart),
    ]),
  );
}
