import * as v from "valibot";
import { defineCheck } from "../../lib/plugin/define.ts";

/** The conversation's final status; `null` asks for none. */
export default defineCheck({
  apiVersion: 1,
  title: "Final status",
  field: "status",
  schema: v.nullable(v.picklist(["working", "input-required", "completed", "error"])),
  default: "completed",
  applies: (expected) => expected !== null,
  order: 10,
  run: ({ expected, status }) =>
    status === expected
      ? { ok: true, reason: `status: '${status}'` }
      : { ok: false, reason: `status: got '${status}', expected '${expected}'` },
});
