/** What the agent runs with: the environment wins over what stands here. */

export const port = Number(process.env.PORT ?? __PORT__);
export const host = process.env.HOST ?? "127.0.0.1";
export const provider = process.env.MODEL_PROVIDER || "__PROVIDER__";
export const modelName = process.env.MODEL || "__MODEL__";

/** Where models are served in OpenAI's form, and the variable of the key. */
const SERVERS: Readonly<Record<string, { url: string; key?: string }>> = {
  openai: { url: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  anthropic: { url: "https://api.anthropic.com/v1", key: "ANTHROPIC_API_KEY" },
  deepseek: { url: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY" },
  nvidia: { url: "https://integrate.api.nvidia.com/v1", key: "NVIDIA_API_KEY" },
  ollama: { url: "http://localhost:11434/v1" },
};

/** Address and key of the model's server. Throws for a provider that is not known and has no BASE_URL. */
export function modelServer(): { baseURL: string; apiKey?: string } {
  const server = SERVERS[provider];
  const baseURL = process.env.BASE_URL || server?.url;
  if (baseURL === undefined) throw new Error(`Unknown provider "${provider}": set BASE_URL`);
  const apiKey = server?.key === undefined ? undefined : process.env[server.key];
  return apiKey === undefined ? { baseURL } : { baseURL, apiKey };
}
