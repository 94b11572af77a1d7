import type { TaskState } from "../lib/conversation/event.ts";
import { totalsOf } from "../lib/trace/steps.ts";
import type { Step, Trajectory } from "../lib/trace/trajectory.ts";

/** What a check is given, for tests: an episode with these steps. */
export function given(steps: Step[] = [], more: { status?: TaskState; output?: string } = {}) {
  const turns = [{ user: "x", steps }];
  const trajectory: Trajectory = { found: true, turns, totals: totalsOf(turns), truncated: false };
  return { status: "completed" as TaskState, output: "", trajectory, ...more };
}

export const model = (tokensIn: number, tokensOut: number): Step => ({
  kind: "model",
  node: null,
  model: "m",
  tokens_in: tokensIn,
  tokens_out: tokensOut,
  tokens_cached: 0,
  reasoning_tokens: 0,
  said: null,
  called: [],
  error: null,
});

export const tool = (name: string, error: string | null = null, steps: Step[] = []): Step => ({
  kind: "tool",
  node: null,
  name,
  args: { item: "bolts" },
  result: null,
  error,
  steps,
});

export const agent = (name: string, steps: Step[] = []): Step => ({
  kind: "agent",
  node: null,
  agent: name,
  asked: null,
  answered: null,
  status: null,
  error: null,
  steps,
});
