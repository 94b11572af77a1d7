import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";

/** Phrases that the final answer must contain, letter by letter. */
export default defineCheck({
  apiVersion: 1,
  title: "Phrases in the answer",
  field: "output_must_contain",
  schema: v.array(v.string()),
  applies: (expected) => expected.length > 0,
  order: 20,
  run: ({ expected, output }) =>
    expected.map((phrase, i) => {
      const label = expected.length === 1 ? "output" : `output[${i}]`;
      const ok = output.includes(phrase);
      return { ok, reason: `${label}: ${ok ? "contains" : "missing"} '${phrase}'` };
    }),
});
