/** Providers that a model may have, with the usual variable of their key (null: needs none). */
const PROVIDERS: Readonly<Record<string, string | null>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  deepseek: "DEEPSEEK_API_KEY",
  nvidia: "NVIDIA_API_KEY",
  ollama: null,
  google: "GOOGLE_API_KEY",
  azure: "AZURE_OPENAI_API_KEY",
  bedrock: null,
  mistral: "MISTRAL_API_KEY",
  groq: "GROQ_API_KEY",
  openrouter: "OPENROUTER_API_KEY",
  scripted: null,
};

/** All provider names, in a fixed order. */
export function providerNames(): string[] {
  return Object.keys(PROVIDERS);
}
