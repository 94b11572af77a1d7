import { defineCommand } from "../../command.ts";
import { INTERACTIVE, nameOf, tellScaffolded } from "../init/_agent-flags.ts";

export default defineCommand({
  summary: "Add LLM clients to the agent",
  description: "Clients that exist stay as they are. The package's __init__.py is written anew.",
  group: "Projects",
  args: [{ name: "NAMES", summary: "Names of the clients, parted by commas", optional: true }],
  flags: {
    template: { type: "string", value: "ID", summary: 'Template of the clients, by default "chat"' },
    force: { type: "boolean", short: "f", summary: "Write clients that exist anew" },
    interactive: INTERACTIVE,
    "dry-run": { type: "boolean", summary: "Show what would be written and write nothing" },
  },
  examples: [
    { command: "bat add client planner,weather", does: "In the agent's folder" },
    { command: "bat add client planner --template structured", does: "One that answers with a schema" },
  ],
  async run({ args, flags }, world) {
    const { addClients } = await import("../../../scaffold/add-client.ts");
    const name = await nameOf(args.NAMES, "clients, parted by commas", flags.interactive, world);
    const dryRun = flags["dry-run"] === true;
    const result = await addClients({ cwd: world.cwd, stdout: world.stdout, dryRun }, name, {
      template: flags.template,
      force: flags.force === true,
    });
    tellScaffolded(result, "src/llm_clients", [], dryRun, world);
  },
});
