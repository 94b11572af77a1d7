import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

/** OpenAI's own API; with a base URL, any server that has its chat completions. */
export default defineProvider({
  apiVersion: 1,
  title: "OpenAI",
  keyVariable: "OPENAI_API_KEY",
  async model(request) {
    if (request.baseUrl !== null) return await compatible("openai", request.baseUrl, request);
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI(request.apiKey === null ? {} : { apiKey: request.apiKey })(request.model);
  },
});
