import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Azure OpenAI",
  keyVariable: "AZURE_API_KEY",
  package: "@ai-sdk/azure",
  model: (request) => packaged("@ai-sdk/azure", "createAzure", request),
});
