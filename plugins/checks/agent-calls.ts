import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";
import { allSteps, atLeast } from "./_calls.ts";

/** Other agents that must have been called. */
export default defineCheck({
  apiVersion: 1,
  title: "Agent calls",
  field: "agent_calls",
  schema: v.array(
    v.object({
      agent: v.pipe(v.string(), v.minLength(1)),
      times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
    }),
  ),
  needs: ["trajectory"],
  applies: (expected) => expected.length > 0,
  order: 40,
  run({ expected, trajectory }) {
    const calls = allSteps(trajectory).filter((step) => step.kind === "agent");
    return expected.map(({ agent, times }) => {
      const count = calls.filter((call) => call.agent === agent).length;
      return atLeast(`agent_call:${agent}`, count, times);
    });
  },
});
