import type { TaskState } from "./event.ts";

const STATES: ReadonlyMap<string, TaskState> = new Map([
  ["submitted", "working"],
  ["working", "working"],
  ["input-required", "input-required"],
  ["completed", "completed"],
  ["failed", "error"],
  ["canceled", "error"],
  ["cancelled", "error"],
  ["rejected", "error"],
  ["auth-required", "error"],
]);

/**
 * The state that a verdict speaks of, from an A2A state as 0.3 (`input-required`) or 1.0 (`TASK_STATE_INPUT_REQUIRED`)
 * spells it; null for one that is not known.
 */
export function mapTaskState(state: string): TaskState | null {
  const plain = state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  return STATES.get(plain) ?? null;
}
