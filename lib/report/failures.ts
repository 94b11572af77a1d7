import { relative } from "node:path";
import type { World } from "../cli/command.ts";
import { wrap } from "../cli/layout.ts";
import type { RunResult, TaskResult } from "../eval/observer.ts";
import { printable } from "../text/printable.ts";

const MOST_GROUPS = 20;
const MOST_PATHS = 5;
const MOST_REASON_LINES = 12;

type Failure = TaskResult["failures"][number];

/** Attempts of a task that ended the same way. */
interface Group {
  task: string;
  model: string;
  outcome: Failure["outcome"];
  reason: string;
  failures: Failure[];
}

/**
 * Each failure and each attempt that was not carried out: what happened, and where its episode lies. Attempts of one
 * task with one reason stand together. No lines without failures.
 */
export function failureLines(result: RunResult, world: World): string[] {
  const groups = groupsOf(result);
  const shown = groups.slice(0, MOST_GROUPS);
  const lines = shown.flatMap((group) => groupLines(group, result, world));
  const named = shown.reduce((sum, { failures }) => sum + failures.length, 0);
  const listed = groups.reduce((sum, { failures }) => sum + failures.length, 0);
  const failed = groups.reduce(
    (sum, { outcome, failures }) => sum + (outcome === "carried-out" ? failures.length : 0),
    0,
  );
  const more = listed - named + Math.max(0, result.failed - failed);
  return more > 0 ? [...lines, `  … and ${more} more, each in its episode`] : lines;
}

function groupsOf({ models }: RunResult): Group[] {
  const groups = new Map<string, Group>();
  for (const { model, tasks } of models) {
    for (const { task_id: task, failures } of tasks) {
      for (const failure of failures) {
        const { outcome, reason } = failure;
        const key = JSON.stringify([model, task, outcome, reason]);
        const group = groups.get(key) ?? { task, model, outcome, reason, failures: [] };
        group.failures.push(failure);
        groups.set(key, group);
      }
    }
  }
  return [...groups.values()];
}

function groupLines(group: Group, { directory, models }: RunResult, world: World): string[] {
  const { task, model, outcome, failures } = group;
  const of = models.length > 1 ? ` of ${printable(model)}` : "";
  const one = failures.length === 1;
  const numbers = failures.map(({ attempt }) => attempt);
  const what =
    outcome === "not-carried-out" ? (one ? "was not carried out" : "were not carried out") : "failed";
  const paths = failures
    .slice(0, MOST_PATHS)
    .map(({ episode }) => `      ${relative(world.cwd, `${directory}/${episode}`)}`);
  return [
    `  ${printable(task)} ${one ? "try" : "tries"} ${listText(numbers)}${of} ${what}`,
    ...reasonLines(group.reason, world.columns - 6),
    ...paths,
    ...(failures.length > MOST_PATHS ? [`      … and ${failures.length - MOST_PATHS} more episodes`] : []),
  ];
}

function reasonLines(reason: string, columns: number): string[] {
  const lines = reason.split("; ").flatMap((part) => wrap(printable(part), columns));
  const kept = lines.length > MOST_REASON_LINES ? [...lines.slice(0, MOST_REASON_LINES), "…"] : lines;
  return kept.map((line) => `      ${line}`);
}

/** `0`, `0 and 1`, `0, 1 and 4`, and beyond eight `0, 1 … 9`. */
function listText(numbers: readonly number[]): string {
  if (numbers.length > 8) return `${numbers.slice(0, 6).join(", ")} … ${numbers[numbers.length - 1]}`;
  const last = numbers[numbers.length - 1] ?? "";
  return numbers.length < 2 ? `${last}` : `${numbers.slice(0, -1).join(", ")} and ${last}`;
}
