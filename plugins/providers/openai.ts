import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

/**
 * OpenAI's own API, by default its responses; with a base URL, any server that has its chat completions. `judge.api`
 * chooses the other one.
 */
export default defineProvider({
  apiVersion: 1,
  title: "OpenAI",
  keyVariable: "OPENAI_API_KEY",
  apis: ["responses", "chat"],
  async model(request) {
    const { model, baseUrl, apiKey, api, fetch } = request;
    if (baseUrl !== null && api !== "responses") return await compatible("openai", baseUrl, request);
    const { createOpenAI } = await import("@ai-sdk/openai");
    const openai = createOpenAI({
      fetch,
      ...(apiKey === null ? {} : { apiKey }),
      ...(baseUrl === null ? {} : { baseURL: baseUrl.replace(/\/+$/, "") }),
    });
    return api === "chat" ? openai.chat(model) : openai.responses(model);
  },
});
