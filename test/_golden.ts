import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Episode } from "../lib/eval/episode.ts";
import type { Step } from "../lib/trace/trajectory.ts";

const GOLDEN = fileURLToPath(new URL("../fixtures/golden/runs/", import.meta.url));

/** A recorded run's file. */
export function recorded<T>(path: string): T {
  return JSON.parse(readFileSync(GOLDEN + path, "utf8")) as T;
}

/** What must be equal in an episode and its recorded one: all but times, addresses and ids. */
export function comparable({ trace, verdict, aux, ...rest }: Episode): unknown {
  return {
    ...rest,
    verdict: { passed: verdict.passed, reason: verdict.reason },
    attempt: aux.attempt_index,
    events: onlyTold(trace.events.map(({ t_ms: _, ...event }) => event)),
    tool_calls: [...trace.tool_calls].sort(byText),
    trajectory: {
      ...trace.trajectory,
      turns: trace.trajectory.turns.map((turn) => ({ ...turn, steps: inOrder(turn.steps) })),
    },
  };
}

/**
 * A follow-up to a question names the task that asked (A2A's own rule), so the agent does not begin with a new task: the
 * reference, which names none, has that empty first event more.
 */
function onlyTold<E extends { content_preview: string; task_status: string }>(
  events: readonly E[],
): unknown[] {
  const told = events.filter((event) => event.content_preview !== "" || event.task_status !== "working");
  return told.map(({ content_preview, task_status }) => ({ content_preview, task_status }));
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
  const wanted = { ...expected, aux: { ...expected.aux, attempt_index: attempt } };
  assert.deepEqual(comparable(actual), comparable(wanted), `${actual.task_id} try ${attempt}`);
}
