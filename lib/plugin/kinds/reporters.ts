import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "reporter",
  schema: v.object({ apiVersion, title: v.string(), fileName: v.string(), report: functionValue }),
} satisfies PluginKind;
