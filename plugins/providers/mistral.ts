import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Mistral",
  keyVariable: "MISTRAL_API_KEY",
  package: "@ai-sdk/mistral",
  model: (request) => packaged("@ai-sdk/mistral", "createMistral", request),
});
