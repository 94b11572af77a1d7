import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "plotter",
  schema: v.object({ apiVersion, title: v.string(), plot: functionValue }),
} satisfies PluginKind;
