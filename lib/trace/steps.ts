import type { Step, ToolCall, Totals } from "./trajectory.ts";

/** Sums over all steps, nested ones too. */
export function totalsOf(turns: readonly { steps: readonly Step[] }[]): Totals {
  const totals: Totals = {
    model_calls: 0,
    tokens_in: 0,
    tokens_out: 0,
    tokens_cached: 0,
    tool_calls: 0,
    agent_calls: 0,
    errors: 0,
  };
  for (const step of turns.flatMap(({ steps }) => [...everyStep(steps)])) {
    if (step.error !== null) totals.errors += 1;
    if (step.kind === "tool") totals.tool_calls += 1;
    if (step.kind === "agent") totals.agent_calls += 1;
    if (step.kind !== "model") continue;
    totals.model_calls += 1;
    totals.tokens_in += step.tokens_in;
    totals.tokens_out += step.tokens_out;
    totals.tokens_cached += step.tokens_cached;
  }
  return totals;
}

/** Every tool call, depth first. */
export function toolCallsOf(turns: readonly { steps: readonly Step[] }[]): ToolCall[] {
  return turns
    .flatMap(({ steps }) => [...everyStep(steps)])
    .flatMap((step) =>
      step.kind === "tool" ? [{ name: step.name, args: step.args, error: step.error }] : [],
    );
}

/** Every step of a list with those nested in it, a step before its own. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  // Not recursive: nesting may be as deep as the spans of a broken agent are.
  const open: Iterator<Step>[] = [steps[Symbol.iterator]()];
  while (open.length > 0) {
    const next = open[open.length - 1]!.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    yield next.value;
    if (next.value.kind === "tool" || next.value.kind === "agent")
      open.push(next.value.steps[Symbol.iterator]());
  }
}
