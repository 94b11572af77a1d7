import { BatError } from "../../../errors.ts";
import type { FlagSpec } from "../../command.ts";

/** Flags that say how a run is carried out, not what is evaluated. */
export const RUN_FLAGS = {
  concurrency: {
    type: "integer",
    min: 1,
    max: 1000,
    summary: "Conversations at once with one agent process",
  },
  "fail-under": {
    type: "number",
    min: 0,
    max: 1,
    value: "RATE",
    summary: "Exit with 1 when a model's pass rate is below this",
  },
  "fail-fast": { type: "boolean", summary: "Begin nothing new after the first failure" },
  junit: { type: "string", value: "FILE", summary: "Write a JUnit report too" },
  "judge-cache": {
    type: "boolean",
    negatable: true,
    summary: "Take answers of the judge that are known already",
  },
  json: { type: "boolean", summary: "Print the result as JSON" },
} as const satisfies Record<string, FlagSpec>;

/** The options of a run from its flags. */
export function runOptions(flags: {
  concurrency: number | undefined;
  "fail-under": number | undefined;
  "fail-fast": boolean | undefined;
  junit: string | undefined;
  json: boolean | undefined;
  "judge-cache": boolean | undefined;
}) {
  return {
    concurrency: flags.concurrency,
    failUnder: flags["fail-under"],
    failFast: flags["fail-fast"],
    junit: flags.junit,
    json: flags.json,
    judgeCache: flags["judge-cache"],
  };
}

/** Refuses flags that would change what a run is, where one is resumed. */
export function refuseTogether(given: Readonly<Record<string, unknown>>, with_: string): void {
  for (const [flag, value] of Object.entries(given)) {
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    throw new BatError(
      "usage",
      `--${flag} cannot be given with ${with_}: a resumed run is the one that was planned`,
    );
  }
}
