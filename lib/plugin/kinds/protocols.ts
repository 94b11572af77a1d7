import * as v from "valibot";
import type { PluginKind } from "../kind.ts";
import { apiVersion, functionValue } from "./_common.ts";

export default {
  noun: "protocol",
  schema: v.object({ apiVersion, title: v.string(), connect: functionValue }),
} satisfies PluginKind;
