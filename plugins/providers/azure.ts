import type { LanguageModel } from "ai";
import { defineProvider } from "../../lib/plugin/define.ts";

/**
 * The resource is named by AZURE_RESOURCE_NAME, or its address given as `base_url`. The model is the deployment's name;
 * by default the responses API.
 */
export default defineProvider({
  apiVersion: 1,
  title: "Azure OpenAI",
  keyVariable: "AZURE_API_KEY",
  package: "@ai-sdk/azure",
  apis: ["responses", "chat"],
  async model({ model, baseUrl, apiKey, api, variable, load, fetch }) {
    const { createAzure } = (await load("@ai-sdk/azure")) as {
      createAzure: (options: object) => Record<string, (model: string) => LanguageModel>;
    };
    const resourceName = variable("AZURE_RESOURCE_NAME");
    const apiVersion = variable("AZURE_API_VERSION");
    const azure = createAzure({
      fetch,
      ...(apiKey === null ? {} : { apiKey }),
      ...(baseUrl === null ? { resourceName } : { baseURL: baseUrl }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
    });
    return azure[api ?? "responses"]!(model);
  },
});
