import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "provider",
  schema: v.object({
    apiVersion,
    title: v.string(),
    keyVariable: v.nullable(v.string()),
    secretVariables: v.optional(v.array(v.string())),
    package: v.optional(v.string()),
    apis: v.optional(v.array(v.string())),
    model: functionValue,
  }),
} satisfies PluginKind;
