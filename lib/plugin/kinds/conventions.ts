import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "convention",
  schema: v.object({
    apiVersion,
    title: v.string(),
    order: v.number(),
    read: functionValue,
    conversation: functionValue,
  }),
} satisfies PluginKind;
