import * as v from "valibot";
import type { CheckPlugin } from "../define.ts";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "check",
  schema: v.object({
    apiVersion,
    title: v.string(),
    field: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "Expected a field name such as max_tokens")),
    schema: v.looseObject({ kind: v.literal("schema"), type: v.string() }),
    default: v.optional(v.unknown()),
    needs: v.optional(v.array(v.picklist(["trajectory"]))),
    applies: v.optional(functionValue),
    order: v.number(),
    run: functionValue,
  }),
  unique: { what: "field of expected", of: (definition) => (definition as CheckPlugin).field },
} satisfies PluginKind;
