import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "client",
  schema: v.object({
    apiVersion,
    title: v.string(),
    template: v.pipe(v.string(), v.regex(/\.py$/, "Expected the name of a Python file")),
    requires: v.optional(v.array(v.string())),
    values: v.optional(functionValue),
  }),
} satisfies PluginKind;
