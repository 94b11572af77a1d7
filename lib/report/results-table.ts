import { relative } from "node:path";
import type { World } from "../cli/command.ts";
import { columnsText, displayWidth } from "../cli/layout.ts";
import type { ModelResult, Rate, RunResult, TaskResult } from "../eval/observer.ts";
import { printable } from "../text/printable.ts";
import { failureLines } from "./failures.ts";
import { duration, percent } from "./format.ts";
import { type Painter, painter } from "./paint.ts";
import { scoreLines } from "./score-lines.ts";

/** Beyond this many tasks only those that did not pass every attempt have a line of their own. */
const MOST_ROWS = 40;
/** So much of a task's name is kept before a column is given up for it. */
const NAME_WIDTH = 18;

/** The result of a run for a person: a table a model, then each failure with its reason and its episode, then totals. */
export function renderResults(result: RunResult, world: World): string {
  const paint = painter(world.color);
  const lines: string[] = [];
  for (const model of result.models)
    lines.push("", paint("bold", printable(model.model)), ...modelLines(model, world.columns, paint));
  const failures = failureLines(result, world);
  if (failures.length > 0) lines.push("", paint("bold", "Failures"), ...failures);
  lines.push("", ...closingLines(result, world, paint));
  return `${lines.slice(1).join("\n")}\n`;
}

interface Row {
  name: string;
  planned: number;
  carriedOut: number;
  passed: number;
  rate: Rate | null;
  atK: number | undefined;
  hatK: number | undefined;
  tokens: number;
  median: number | undefined;
}

interface Column {
  heading: string;
  right: boolean;
  /** The higher, the sooner it is given up where the terminal is narrow; 0 stays. */
  drop: number;
  cell: (row: Row) => string;
}

function columnsFor(model: ModelResult, paint: Painter): Column[] {
  const ks = new Set(model.tasks.map((task) => task.carried_out).filter((n) => n > 0));
  const k = ks.size === 1 ? String([...ks][0]) : "k";
  const columns: Column[] = [
    { heading: "Task", right: false, drop: 0, cell: ({ name }) => name },
    { heading: "Passed", right: true, drop: 0, cell: (row) => passedCell(row, paint) },
    {
      heading: "Rate",
      right: true,
      drop: 0,
      cell: ({ rate }) => (rate === null ? "–" : percent(rate.value)),
    },
    { heading: "95 % CI", right: true, drop: 1, cell: ({ rate }) => interval(rate) },
    { heading: `pass@${k}`, right: true, drop: 4, cell: ({ atK }) => share(atK) },
    { heading: `pass^${k}`, right: true, drop: 5, cell: ({ hatK }) => share(hatK) },
    { heading: "Tokens", right: true, drop: 2, cell: ({ tokens }) => String(tokens) },
    {
      heading: "Time p50",
      right: true,
      drop: 3,
      cell: ({ median }) => (median === undefined ? "–" : duration(median)),
    },
  ];
  // With one attempt a task both are the rate itself.
  return k === "1" ? columns.filter(({ drop }) => drop < 4) : columns;
}

function modelLines(model: ModelResult, width: number, paint: Painter): string[] {
  const error = model.error?.split("\n").map((line) => `  ${line}`) ?? [];
  if (model.error !== null && model.carried_out === 0) return error;
  const begun = model.tasks.filter(({ carried_out, failures }) => carried_out > 0 || failures.length > 0);
  const failed = begun.filter(({ passed, planned }) => passed < planned);
  const shown = begun.length <= MOST_ROWS ? begun : failed.slice(0, MOST_ROWS);
  const rows = [...shown.map(taskRow), totalRow(model)];
  const lines = tableLines(columnsFor(model, paint), rows, width - 2).map((line) => `  ${line}`);
  const hidden = begun.length - shown.length;
  if (hidden > 0)
    lines.push(`  … ${hidden} tasks not shown; ${begun.length - failed.length} of all passed every attempt`);
  const waiting = model.tasks.length - begun.length;
  if (waiting > 0) lines.push(`  ${waiting} of the tasks ${waiting === 1 ? "was" : "were"} not begun`);
  lines.push(...error, ...scoreLines(model));
  if (model.restarts > 0)
    lines.push(
      `  The agent died and was started anew ${model.restarts === 1 ? "once" : `${model.restarts} times`}`,
    );
  return lines;
}

function tableLines(columns: readonly Column[], rows: readonly Row[], limit: number): string[] {
  let kept = columns;
  const wanted = Math.min(NAME_WIDTH, Math.max(...rows.map(({ name }) => displayWidth(name))));
  for (;;) {
    const cells = [
      kept.map(({ heading }) => heading),
      ...rows.map((row) => kept.map(({ cell }) => cell(row))),
    ];
    const widths = kept.slice(1).map((_, i) => Math.max(...cells.map((row) => displayWidth(row[i + 1]!))));
    const left = limit - widths.reduce((sum, one) => sum + one + 2, 0);
    const next = Math.max(...kept.map(({ drop }) => drop));
    if (left >= wanted || next === 0)
      return columnsText(
        cells,
        kept.map(({ right }) => right),
        limit,
      );
    kept = kept.filter(({ drop }) => drop !== next);
  }
}

function taskRow(task: TaskResult): Row {
  const { planned, carried_out: carriedOut, passed, pass_rate: rate, tokens, wall_ms } = task;
  return {
    name: printable(task.task_id),
    planned,
    carriedOut,
    passed,
    rate,
    atK: task.pass_at_k[String(carriedOut)],
    hatK: task.pass_hat_k[String(carriedOut)],
    tokens: tokens.in + tokens.out,
    median: wall_ms?.p50,
  };
}

/** Rates and times are over all attempts; pass@k and pass^k are means over the tasks. */
function totalRow(model: ModelResult): Row {
  const rows = model.tasks.map(taskRow);
  const { planned, carried_out: carriedOut, passed, pass_rate: rate, tokens, wall_ms } = model;
  return {
    name: rows.length === 1 ? "1 task" : `all ${rows.length} tasks`,
    planned,
    carriedOut,
    passed,
    rate,
    atK: mean(rows.flatMap(({ atK }) => atK ?? [])),
    hatK: mean(rows.flatMap(({ hatK }) => hatK ?? [])),
    tokens: tokens.in + tokens.out,
    median: wall_ms?.p50,
  };
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function passedCell({ passed, carriedOut, planned }: Row, paint: Painter): string {
  const missing = carriedOut < planned;
  const text = `${passed}/${carriedOut}${missing ? ` (of ${planned})` : ""}`;
  return paint(missing ? "yellow" : passed === planned ? "green" : "red", text);
}

function interval(rate: Rate | null): string {
  if (rate === null) return "–";
  return `${Math.round(rate.low * 100)}–${percent(rate.high)}`;
}

function share(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(2);
}

function closingLines(result: RunResult, world: World, paint: Painter): string[] {
  const { planned, carried_out, passed, failed, state, problems, elapsed_ms, directory, run } = result;
  const missing = planned - carried_out;
  const open = missing > 0 ? `, ${missing} not carried out` : "";
  return [
    `${passed} passed, ${failed} failed${open}, of ${planned} attempt${planned === 1 ? "" : "s"} in ${duration(elapsed_ms)}`,
    ...problems.map((problem) => paint("red", problem)),
    `Results: ${relative(world.cwd, directory) || "."}`,
    ...(state === "complete" ? [] : [`Go on with: bat eval resume ${run}`]),
  ];
}
