import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";
import type { Step } from "../../lib/trace/trajectory.ts";
import { allSteps } from "./_calls.ts";

const SHOWN = 3;

/** No step may have failed, nested ones included. */
export default defineCheck({
  apiVersion: 1,
  title: "No failed steps",
  field: "no_errors",
  schema: v.boolean(),
  needs: ["trajectory"],
  applies: (expected) => expected,
  order: 70,
  run({ trajectory }) {
    const failed = allSteps(trajectory).filter((step) => step.error !== null);
    if (failed.length === 0) return { ok: true, reason: "errors: none" };
    const shown = failed.slice(0, SHOWN).map((step) => `${step.kind} ${nameOf(step)}: ${step.error}`);
    const more = failed.length > SHOWN ? ` (+${failed.length - SHOWN} more)` : "";
    return { ok: false, reason: `errors: ${failed.length} failed steps -- ${shown.join("; ")}${more}` };
  },
});

function nameOf(step: Step): string {
  switch (step.kind) {
    case "model":
      return step.model ?? step.node ?? "?";
    case "tool":
      return step.name;
    case "agent":
      return step.agent ?? step.node ?? "?";
    case "error":
      return step.span ?? step.node ?? "?";
  }
}
