import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Set the port, model or provider in an agent's config.yaml",
  description: "Edits the file's text: comments, order and layout stay. At least one setting must be given.",
  group: "Projects",
  args: [{ name: "AGENT", summary: "Agent of the blueprint; by default the one we are in", optional: true }],
  flags: {
    port: { type: "integer", min: 1, max: 65_535, summary: "Port that the agent answers on" },
    model: { type: "string", value: "NAME", summary: "Model that it asks" },
    "model-provider": { type: "string", value: "ID", summary: "Who serves the model" },
    "reasoning-effort": { type: "string", value: "LEVEL", summary: "How much the model is to think" },
    "service-tier": { type: "string", value: "TIER", summary: "Tier of the provider's service" },
    "dry-run": { type: "boolean", summary: "Show the difference and write nothing" },
  },
  examples: [
    { command: "bat set config --port 9901", does: "In the agent's folder" },
    { command: "bat set config desk --model gpt-6-luna --dry-run", does: "In a blueprint, to look first" },
  ],
  async run({ args, flags }, world) {
    const { setConfig } = await import("../../../settings/config.ts");
    const dryRun = flags["dry-run"] === true;
    const settings = {
      port: flags.port,
      model: flags.model,
      modelProvider: flags["model-provider"],
      reasoningEffort: flags["reasoning-effort"],
      serviceTier: flags["service-tier"],
    };
    const place = { cwd: world.cwd, agent: args.AGENT };
    const result = await setConfig(place, settings, { dryRun, stdout: world.stdout });
    const { tell } = await import("./_tell.ts");
    tell(result, dryRun, world);
  },
});
