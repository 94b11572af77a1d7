import type { CheckAnswer } from "../../lib/plugin/define.ts";
import { isRawNumber, numericValue } from "../../lib/text/json.ts";
import { everyStep } from "../../lib/trace/steps.ts";
import type { Json, Step, Trajectory } from "../../lib/trace/trajectory.ts";

/** Every step of a trajectory, nested ones too. */
export function allSteps({ turns }: Trajectory): Step[] {
  return turns.flatMap(({ steps }) => [...everyStep(steps)]);
}

/** `called 2×`, or what was expected where that is more. */
export function atLeast(label: string, count: number, times: number): CheckAnswer {
  return count >= times
    ? { ok: true, reason: `${label}: called ${count}×` }
    : { ok: false, reason: `${label}: called ${count}×, expected ≥${times}×` };
}

/** `label: 3`, or the limit where that is less. */
export function atMost(label: string, count: number, limit: number): CheckAnswer {
  return count <= limit
    ? { ok: true, reason: `${label}: ${count}` }
    : { ok: false, reason: `${label}: ${count}, expected at most ${limit}` };
}

/**
 * Whether a value is contained in another: objects by the keys that are expected, recursively; lists when each expected
 * item matches an actual one of its own; anything else when equal. `true` is no `1`.
 */
export function isSubset(expected: Json, actual: Json | undefined): boolean {
  if (actual === undefined) return false;
  if (isNumber(expected) && isNumber(actual)) return sameNumber(numericValue(expected), numericValue(actual));
  if (typeof expected !== "object" || expected === null) return expected === actual;
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(expected)) return Array.isArray(actual) && eachHasItsOwn(expected, actual);
  if (Array.isArray(actual) || isRawNumber(expected) || isRawNumber(actual)) return false;
  return Object.entries(expected).every(
    ([key, value]) => Object.hasOwn(actual, key) && isSubset(value, actual[key]),
  );
}

function isNumber(value: Json): value is number {
  return typeof value === "number" || isRawNumber(value);
}

function sameNumber(a: number | bigint, b: number | bigint): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint and a number by their exact values
  return a == b;
}

/** Whether the items can be matched so that each has a partner of its own (augmenting paths: greedy would miss some). */
function eachHasItsOwn(expected: readonly Json[], actual: readonly Json[]): boolean {
  if (expected.length > actual.length) return false;
  const partnerOf = new Map<number, number>();
  const assign = (item: number, seen: Set<number>): boolean => {
    for (let j = 0; j < actual.length; j += 1) {
      if (seen.has(j) || !isSubset(expected[item]!, actual[j])) continue;
      seen.add(j);
      const holder = partnerOf.get(j);
      if (holder === undefined || assign(holder, seen)) {
        partnerOf.set(j, item);
        return true;
      }
    }
    return false;
  };
  return expected.every((_, item) => assign(item, new Set()));
}
