import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  package: "@ai-sdk/anthropic",
  model: (request) => packaged("@ai-sdk/anthropic", "createAnthropic", request),
});
