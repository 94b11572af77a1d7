import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";
import { atMost } from "./_calls.ts";

/** Calls of language models, called agents' too. */
export default defineCheck({
  apiVersion: 1,
  title: "Model calls",
  field: "max_model_calls",
  schema: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
  applies: (expected) => expected !== null,
  needs: ["trajectory"],
  order: 50,
  run: ({ expected, trajectory }) => atMost("model calls", trajectory.totals.model_calls, expected!),
});
