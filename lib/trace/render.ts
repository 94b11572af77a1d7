import { countCodePoints, firstCodePoints, isLongerThan } from "../text/code-points.ts";
import { pyJson } from "../text/python-json.ts";
import type { Step, Trajectory, Turn } from "./trajectory.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;
/** Lengths to which fields are shortened, one after the other, while the whole is too long. */
const FIELD_LIMITS = [NO_LIMIT, 600, 250, 100];
/** How many steps are kept at each end of a turn when that is not enough. */
const ENDS = [4, 2, 1];
const CUT = "…[rendering cut; the rest of the steps are omitted]";

/**
 * A trajectory as numbered lines, for a judge and for people, within `maxChars` code points: fields are shortened first,
 * then the middle steps of each turn go, for the first and last steps are where a request is understood and answered.
 */
export function renderTrajectory(trajectory: Trajectory, maxChars = NO_LIMIT): string {
  let text = "";
  for (const limit of FIELD_LIMITS) {
    text = render(trajectory, limit, NO_LIMIT);
    if (!isLongerThan(text, maxChars)) return text;
  }
  for (const ends of ENDS) {
    text = render(trajectory, FIELD_LIMITS[FIELD_LIMITS.length - 1]!, ends);
    if (!isLongerThan(text, maxChars)) return text;
  }
  const room = maxChars - countCodePoints(CUT) - 1;
  return room < 0 ? firstCodePoints(CUT, maxChars) : `${firstCodePoints(text, room)}\n${CUT}`;
}

function render({ turns, totals }: Trajectory, limit: number, ends: number): string {
  const lines = turns.flatMap((turn, i) => renderTurn(turn, i + 1, limit, ends));
  const { model_calls, tool_calls, agent_calls, errors } = totals;
  lines.push(
    `Totals: ${model_calls} model calls, ${tool_calls} tool calls, ${agent_calls} agent calls, ${errors} failed steps`,
  );
  return lines.join("\n");
}

function renderTurn({ user, steps }: Turn, number: number, limit: number, ends: number): string[] {
  const heading = `Turn ${number} - user: ${shorten(user ?? "", limit)}`;
  if (steps.length === 0) return [heading, "  (no steps recorded)"];
  return [heading, ...renderSteps(steps, "", "  ", limit, ends)];
}

function renderSteps(
  steps: readonly Step[],
  label: string,
  indent: string,
  limit: number,
  ends: number,
): string[] {
  const lines: string[] = [];
  const omitted = steps.length - 2 * ends;
  for (const [i, step] of steps.entries()) {
    const dropped = omitted > 0 && i >= ends && i < steps.length - ends;
    if (dropped) {
      if (i === ends) lines.push(`${indent}… ${omitted} steps omitted …`);
      continue;
    }
    const number = label === "" ? `${i + 1}.` : `${label}${i + 1}`;
    const inner = label === "" ? `${i + 1}.` : `${label}${i + 1}.`;
    lines.push(`${indent}${number} ${headline(step, limit)}`);
    if (step.kind === "tool" || step.kind === "agent") {
      lines.push(...renderSteps(step.steps, inner, `${indent}   `, limit, NO_LIMIT));
    }
    if (step.kind === "agent") lines.push(`${indent}   -> ${agentAnswer(step, limit)}`);
  }
  return lines;
}

function headline(step: Step, limit: number): string {
  const short = (text: string) => shorten(text, limit);
  switch (step.kind) {
    case "model": {
      const parts: string[] = [];
      if (step.called.length > 0) parts.push(`called: ${step.called.join(", ")}`);
      if (step.said !== null) parts.push(`said: "${short(step.said)}"`);
      if (parts.length === 0) parts.push("said nothing");
      if (step.error !== null) parts.push(`FAILED: ${short(step.error)}`);
      return `[model ${step.node ?? "?"}] ${parts.join("; ")}`;
    }
    case "tool": {
      const result =
        step.error !== null
          ? `FAILED: ${short(step.error)}`
          : step.result === null
            ? "(no result)"
            : short(step.result);
      return `[tool ${step.name}] args: ${short(pyJson(step.args))} -> ${result}`;
    }
    case "agent":
      return `[agent ${step.agent ?? "?"}] asked: ${step.asked === null ? "(not recorded)" : `"${short(step.asked)}"`}`;
    case "error":
      return `[error ${step.node ?? step.span ?? "?"}] FAILED: ${short(step.error)}`;
  }
}

function agentAnswer({ error, status, answered }: Extract<Step, { kind: "agent" }>, limit: number): string {
  if (error !== null) return `FAILED: ${shorten(error, limit)}`;
  if (answered !== null) return `${status ?? "answered"}: "${shorten(answered, limit)}"`;
  return status ?? "(answer not recorded)";
}

function shorten(text: string, limit: number): string {
  return isLongerThan(text, limit) ? `${firstCodePoints(text, limit)}…` : text;
}
