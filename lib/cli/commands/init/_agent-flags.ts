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

/** For commands that make something with a name. */
export const INTERACTIVE = {
  type: "boolean",
  short: "i",
  summary: "Ask for what is missing, on a terminal",
} as const satisfies FlagSpec;

/** What an agent is written in. */
export const RUNTIME = {
  type: "string",
  choices: ["python", "node"],
  default: "python",
  value: "NAME",
  summary: "What it is written in: python with bat-adk, or node in TypeScript",
} as const satisfies FlagSpec;

/** The name that was given or, with `-i` on a terminal, is asked for. Throws BatError (code `usage`) without one. */
export async function nameOf(
  given: string | undefined,
  what: string,
  interactive: boolean | undefined,
  world: World,
): Promise<string> {
  if (given !== undefined) return given;
  if (interactive === true) {
    const { ask } = await import("../../ask.ts");
    const { name } = await ask({ name: { ask: `Name of the ${what}` } }, world);
    if (name !== undefined) return name;
  }
  const { BatError } = await import("../../../errors.ts");
  throw new BatError(
    "usage",
    `Missing argument ${what.startsWith("client") ? "NAMES" : "NAME"}: the name of the ${what}`,
  );
}

/** With `-i`, what else of a new agent was not said. */
export async function withAnswers(
  options: AgentOptions,
  interactive: boolean | undefined,
  world: World,
): Promise<AgentOptions> {
  if (interactive !== true) return options;
  const { ask } = await import("../../ask.ts");
  const all = {
    modelProvider: { ask: "Who serves the model", otherwise: "openai" },
    model: { ask: "Model", otherwise: "gpt-6-luna" },
  };
  const open = Object.entries(all).filter(([key]) => options[key as keyof typeof all] === undefined);
  const questions: Record<string, (typeof all)["model"]> = Object.fromEntries(open);
  return { ...options, ...(await ask(questions, world)) };
}

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
