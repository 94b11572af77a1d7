import { relative } from "node:path";
import { styleText } from "node:util";
import type { World } from "../cli/command.ts";
import { columnsText, wrap } from "../cli/layout.ts";
import type { ModelResult, Rate, RunResult, TaskResult } from "../eval/observer.ts";
import { duration, percent } from "./format.ts";

/** Beyond this many tasks only those with failures have a line of their own. */
const MOST_ROWS = 40;
const MOST_FAILURES = 20;

/** The result of a run for a person: a table a model, then each failure with its reason and its episode. */
export function renderResults(result: RunResult, world: World): string {
  const bold = (text: string) => (world.color ? styleText("bold", text, { validateStream: false }) : text);
  const lines: string[] = [];
  for (const model of result.models) lines.push("", bold(model.model), ...modelLines(model, world));
  const failures = result.models.flatMap((model) =>
    model.tasks.flatMap((task) => failureLines(task, result, world)),
  );
  if (failures.length > 0) lines.push("", bold("Failures"), ...failures.slice(0, MOST_FAILURES).flat());
  if (failures.length > MOST_FAILURES)
    lines.push(`  … and ${failures.length - MOST_FAILURES} more, each in its episode`);
  lines.push("", ...closingLines(result, world));
  return `${lines.join("\n").replace(/^\n/, "")}\n`;
}

const HEADINGS = ["Task", "Passed", "Rate", "95 % interval", "pass@k", "pass^k", "Tokens", "Time p50"];
const RIGHT = [false, true, true, true, true, true, true, true];
/** Which columns go first where the terminal is narrow: the last of these is kept the longest. */
const DROP = [5, 4, 7, 6, 3];

function modelLines(model: ModelResult, world: World): string[] {
  if (model.error !== null && model.carried_out === 0) return [`  ${model.error.split("\n").join("\n  ")}`];
  const failed = model.tasks.filter(({ passed, planned }) => passed < planned);
  const shown = model.tasks.length <= MOST_ROWS ? model.tasks : failed.slice(0, MOST_ROWS);
  const rows = [HEADINGS, ...shown.map(taskRow), totalRow(model)];
  const lines = narrowed(rows, world.columns - 2).map((line) => `  ${line}`);
  const hidden = model.tasks.length - shown.length;
  if (hidden > 0)
    lines.push(`  … ${hidden} more tasks, ${model.tasks.length - failed.length} of all passed every attempt`);
  if (model.error !== null) lines.push(`  ${model.error}`);
  if (model.restarts > 0) lines.push(`  The agent died and was started anew ${model.restarts} time(s)`);
  return lines;
}

function narrowed(rows: readonly string[][], limit: number): string[] {
  let kept = HEADINGS.map((_, i) => i);
  for (const drop of [null, ...DROP]) {
    if (drop !== null) kept = kept.filter((i) => i !== drop);
    const right = kept.map((i) => RIGHT[i]!);
    const lines = columnsText(
      rows.map((row) => kept.map((i) => row[i]!)),
      right,
      limit,
    );
    const widest = Math.max(...lines.map((line) => line.length));
    if (widest <= limit || kept.length <= 3) return lines;
  }
  return [];
}

function taskRow(task: TaskResult): string[] {
  const { task_id, planned, carried_out, passed, pass_rate, tokens, wall_ms } = task;
  const count = `${passed}/${carried_out}${carried_out < planned ? ` (of ${planned})` : ""}`;
  const k = String(carried_out);
  return [
    task_id,
    count,
    pass_rate === null ? "–" : percent(pass_rate.value),
    interval(pass_rate),
    share(task.pass_at_k[k]),
    share(task.pass_hat_k[k]),
    String(tokens.in + tokens.out),
    wall_ms === null ? "–" : duration(wall_ms.p50),
  ];
}

function totalRow(model: ModelResult): string[] {
  const { planned, carried_out, passed, pass_rate, tokens, wall_ms } = model;
  const count = `${passed}/${carried_out}${carried_out < planned ? ` (of ${planned})` : ""}`;
  const mean = (of: (task: TaskResult) => number | undefined) => {
    const values = model.tasks.flatMap((task) => of(task) ?? []);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return [
    "all",
    count,
    pass_rate === null ? "–" : percent(pass_rate.value),
    interval(pass_rate),
    share(mean((task) => task.pass_at_k[String(task.carried_out)])),
    share(mean((task) => task.pass_hat_k[String(task.carried_out)])),
    String(tokens.in + tokens.out),
    wall_ms === null ? "–" : duration(wall_ms.p50),
  ];
}

function interval(rate: Rate | null): string {
  return rate === null ? "–" : `${percent(rate.low)}–${percent(rate.high)}`;
}

function share(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(2);
}

function failureLines(task: TaskResult, { directory }: RunResult, world: World): string[][] {
  return task.failures.map(({ attempt, outcome, reason, episode }) => {
    const what = outcome === "not-carried-out" ? "was not carried out" : "failed";
    const path = relative(world.cwd, `${directory}/${episode}`);
    const reasons = reason.split("; ").flatMap((part) => wrap(part.replace(/\s+/g, " "), world.columns - 6));
    return [
      `  ${task.task_id} try ${attempt} ${what}`,
      ...reasons.map((line) => `      ${line}`),
      `      ${path}`,
    ];
  });
}

function closingLines(result: RunResult, world: World): string[] {
  const { planned, carried_out, passed, failed, state, problems, elapsed_ms, directory, run } = result;
  const missing = planned - carried_out;
  const open = missing > 0 ? `, ${missing} not carried out` : "";
  const lines = [
    `${passed} passed, ${failed} failed${open}, of ${planned} attempts in ${duration(elapsed_ms)}`,
  ];
  for (const problem of problems)
    lines.push(world.color ? styleText("red", problem, { validateStream: false }) : problem);
  lines.push(`Results: ${relative(world.cwd, directory) || "."}`);
  if (state !== "complete") lines.push(`Go on with: bat eval resume ${run}`);
  return lines;
}
