import type { LanguageModel } from "ai";
import type { ModelRequest } from "../../lib/plugin/define.ts";

/** A model of a server with OpenAI's chat completions API: vLLM, TGI, llama.cpp, ollama and many more. */
export async function compatible(name: string, url: string, request: ModelRequest): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const { model, baseUrl, apiKey, fetch } = request;
  const baseURL = (baseUrl ?? url).replace(/\/+$/, "");
  const key = apiKey === null ? {} : { apiKey };
  return createOpenAICompatible({ name, baseURL, supportsStructuredOutputs: true, fetch, ...key })(model);
}
