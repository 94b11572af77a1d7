import type { AgentOptions } from "../../../scaffold/agent-values.ts";
import type { Scaffolded } from "../../../scaffold/plan.ts";
import type { FlagSpec, FlagValues, World } from "../../command.ts";

/** What a new agent is like, standalone or in a blueprint. */
export const AGENT_FLAGS = {
  clients: { type: "string", short: "c", value: "A,B", summary: "LLM clients to begin with, by default one" },
  template: { type: "string", value: "ID", summary: 'Template of the clients, by default "chat"' },
  port: { type: "integer", min: 1, max: 65_535, summary: "Port that it answers on" },
  model: { type: "string", value: "NAME", summary: "Model that it asks, by default gpt-6-luna" },
  "model-provider": { type: "string", value: "ID", summary: "Who serves the model, by default openai" },
  privacy: {
    type: "string",
    value: "LEVEL",
    summary: "What its spans always hide: none, content, names or full",
  },
  "reasoning-effort": { type: "string", value: "LEVEL", summary: "How much the model is to think" },
  "service-tier": { type: "string", value: "TIER", summary: "Tier of the provider's service" },
  "dry-run": { type: "boolean", summary: "Show what would be written and write nothing" },
} as const satisfies Record<string, FlagSpec>;

/** The flags as the scaffold takes them. */
export function agentOptions(flags: FlagValues<typeof AGENT_FLAGS>): AgentOptions {
  return {
    clients: flags.clients,
    template: flags.template,
    port: flags.port,
    model: flags.model,
    modelProvider: flags["model-provider"],
    privacy: flags.privacy,
    reasoningEffort: flags["reasoning-effort"],
    serviceTier: flags["service-tier"],
  };
}

/** Says what was, or would be, written. */
export function tellScaffolded(
  { written, warnings }: Scaffolded,
  where: string,
  next: readonly string[],
  dryRun: boolean,
  { stdout, stderr }: World,
): void {
  for (const warning of warnings) stderr.write(`Warning: ${warning}\n`);
  const files = written.length === 1 ? "1 file" : `${written.length} files`;
  if (dryRun) {
    stderr.write(`Would write ${files} to ${where}; nothing was written\n`);
    return;
  }
  stdout.write(written.length === 0 ? `No changes in ${where}\n` : `Wrote ${files} to ${where}\n`);
  if (next.length > 0) stdout.write(`Next: ${next.join("\n      ")}\n`);
}
