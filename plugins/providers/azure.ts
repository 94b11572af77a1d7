import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

/** The resource is named by AZURE_RESOURCE_NAME, or its address given as `base_url`. */
export default defineProvider({
  apiVersion: 1,
  title: "Azure OpenAI",
  keyVariable: "AZURE_API_KEY",
  package: "@ai-sdk/azure",
  model: (request) =>
    packaged("@ai-sdk/azure", "createAzure", request, {
      resourceName: request.baseUrl === null ? request.variable("AZURE_RESOURCE_NAME") : undefined,
      apiVersion: request.variable("AZURE_API_VERSION"),
    }),
});
