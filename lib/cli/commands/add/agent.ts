import { defineCommand } from "../../command.ts";
import {
  AGENT_FLAGS,
  agentOptions,
  INTERACTIVE,
  nameOf,
  tellScaffolded,
  withAnswers,
} from "../init/_agent-flags.ts";

export default defineCommand({
  summary: "Add an agent to the blueprint",
  description: "Without --port it gets one past the highest port of the blueprint.",
  group: "Projects",
  args: [
    { name: "NAME", summary: "Name of the agent and, in lower case, of its Python package", optional: true },
  ],
  flags: {
    ...AGENT_FLAGS,
    interactive: INTERACTIVE,
    force: { type: "boolean", short: "f", summary: "Write the files of an agent that exists anew" },
  },
  examples: [{ command: "bat add agent desk -c planner --port 9910", does: "In the blueprint's folder" }],
  async run({ args, flags }, world) {
    const { addAgent } = await import("../../../scaffold/add-agent.ts");
    const { basename } = await import("node:path");
    const name = await nameOf(args.NAME, "agent", flags.interactive, world);
    const dryRun = flags["dry-run"] === true;
    const result = await addAgent({ cwd: world.cwd, stdout: world.stdout, dryRun }, name, {
      ...(await withAnswers(agentOptions(flags), flags.interactive, world)),
      force: flags.force === true,
    });
    const folder = basename(result.dir);
    tellScaffolded(result, `the blueprint for the agent ${folder}`, [`make ${folder}`], dryRun, world);
  },
});
