import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";
import type { Json } from "../../lib/trace/trajectory.ts";
import { allSteps, atLeast, isSubset } from "./_calls.ts";

/** Tools that must have been called, by name and part of their arguments; called agents' tools count. */
export default defineCheck({
  apiVersion: 1,
  title: "Tool calls",
  field: "tool_calls",
  schema: v.array(
    v.object({
      name: v.pipe(v.string(), v.minLength(1)),
      args_subset: v.optional(v.record(v.string(), v.unknown()), {}),
      times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
    }),
  ),
  needs: ["trajectory"],
  applies: (expected) => expected.length > 0,
  order: 30,
  run({ expected, trajectory }) {
    const tools = allSteps(trajectory).filter((step) => step.kind === "tool");
    return expected.map(({ name, args_subset, times }) => {
      // Where no argument is asked for, a call whose arguments were not recorded is a call all the same.
      const fits = (args: Json) =>
        Object.keys(args_subset).length === 0 || isSubset(args_subset as Json, args);
      const matching = tools.filter((tool) => tool.name === name && fits(tool.args));
      return atLeast(`tool_call:${name}`, matching.length, times);
    });
  },
});
