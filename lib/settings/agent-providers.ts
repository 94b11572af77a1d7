/** Providers that an agent of the kit can have its model from, as its configuration names them. */
export const AGENT_PROVIDERS = ["openai", "anthropic", "deepseek", "nvidia", "ollama"] as const;

/** The variable of each provider's key; the others need none. */
export const KEY_VARIABLES: Readonly<Record<string, string>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  deepseek: "DEEPSEEK_API_KEY",
  nvidia: "NVIDIA_API_KEY",
};
