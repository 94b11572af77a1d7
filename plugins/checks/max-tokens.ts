import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";
import { atMost } from "./_calls.ts";

/** Tokens of all model calls, in and out. */
export default defineCheck({
  apiVersion: 1,
  title: "Tokens used",
  field: "max_tokens",
  schema: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
  applies: (expected) => expected !== null,
  needs: ["trajectory"],
  order: 60,
  run({ expected, trajectory: { totals } }) {
    return atMost("tokens", totals.tokens_in + totals.tokens_out, expected!);
  },
});
