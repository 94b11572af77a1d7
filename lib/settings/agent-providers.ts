/** Providers that an agent of the kit can have its model from, as its configuration names them. */
export const AGENT_PROVIDERS = ["openai", "anthropic", "deepseek", "nvidia", "ollama"] as const;
