import { messageOf } from "../errors.ts";
import type { CheckAnswer, CheckInput, CheckPlugin } from "../plugin/define.ts";
import type { Loaded } from "../plugin/loader.ts";
import type { CheckResult, Verdict } from "./episode.ts";

/** What a task expects, by field. */
export type Expected = Readonly<Record<string, unknown>>;

export type Decided = Omit<CheckInput<unknown>, "expected">;

const NO_SPANS =
  "trace: no spans found for this conversation -- is telemetry on, and written where the eval reads it?";

/** The checks that what is expected asks for, in the verdict's order. */
function asked(expected: Expected, checks: readonly Loaded<CheckPlugin>[]): Loaded<CheckPlugin>[] {
  return checks
    .filter(({ definition: { field, applies } }) => {
      const value = expected[field];
      return value !== undefined && (applies === undefined || applies(value as never));
    })
    .sort((a, b) => a.definition.order - b.definition.order || (a.id < b.id ? -1 : 1));
}

/**
 * Decides an episode: each check by itself, passed when all are. Where a check needs spans and none were found, one
 * failed answer stands in place of all that need them. A check that throws or answers nonsense fails alone.
 */
export function decide(
  expected: Expected,
  decided: Decided,
  checks: readonly Loaded<CheckPlugin>[],
): Verdict {
  const results: CheckResult[] = [];
  let toldOfSpans = false;
  for (const { id, definition } of asked(expected, checks)) {
    const needsSpans = definition.needs?.includes("trajectory") ?? false;
    if (!needsSpans || decided.trajectory.found) {
      results.push(...runCheck(id, definition, expected[definition.field], decided));
    } else if (!toldOfSpans) {
      toldOfSpans = true;
      results.push({ check: "trace", ok: false, reason: NO_SPANS });
    }
  }
  return {
    passed: results.every((result) => result.ok),
    reason: results.map((result) => result.reason).join("; "),
    checks: results,
  };
}

function runCheck(id: string, definition: CheckPlugin, expected: unknown, decided: Decided): CheckResult[] {
  let answer: unknown;
  try {
    answer = definition.run({ ...decided, expected } as CheckInput<never>);
  } catch (error) {
    return [
      { check: id, ok: false, reason: `${id}: the check itself failed: ${messageOf(error)}`, error: true },
    ];
  }
  const answers: unknown[] = Array.isArray(answer) ? answer : [answer];
  if (!answers.every(isAnswer)) {
    const reason = `${id}: the check itself failed: expected {ok, reason}, received ${JSON.stringify(answer) ?? String(answer)}`;
    return [{ check: id, ok: false, reason, error: true }];
  }
  return answers.map(({ ok, reason }) => ({ check: id, ok, reason }));
}

function isAnswer(value: unknown): value is CheckAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { ok, reason } = value as Record<string, unknown>;
  return typeof ok === "boolean" && typeof reason === "string";
}

/** Why an episode did not pass: the reasons of the checks that failed, or the whole reason where they are not told. */
export function failureReason(verdict: Verdict): string {
  const failed = verdict.checks?.filter((check) => !check.ok) ?? [];
  return failed.length === 0 ? verdict.reason : failed.map((check) => check.reason).join("; ");
}
