import { defineCommand } from "../../command.ts";
import {
  AGENT_FLAGS,
  agentOptions,
  INTERACTIVE,
  nameOf,
  RUNTIME,
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
    runtime: RUNTIME,
    force: { type: "boolean", short: "f", summary: "Write the files of an agent that exists anew" },
  },
  examples: [
    { command: "bat add agent desk -c planner --port 9910", does: "In the blueprint's folder" },
    { command: "bat add agent clerk --runtime node", does: "In TypeScript, beside those in Python" },
  ],
  async run({ args, flags }, world) {
    const node = flags.runtime === "node";
    const add = node
      ? (await import("../../../scaffold/add-node-agent.ts")).addNodeAgent
      : (await import("../../../scaffold/add-agent.ts")).addAgent;
    const { basename } = await import("node:path");
    const name = await nameOf(args.NAME, "agent", flags.interactive, world);
    const dryRun = flags["dry-run"] === true;
    const result = await add({ cwd: world.cwd, stdout: world.stdout, dryRun }, name, {
      ...(await withAnswers(agentOptions(flags), flags.interactive, world)),
      force: flags.force === true,
    });
    const folder = basename(result.dir);
    tellScaffolded(
      result,
      `the blueprint for the agent ${folder}`,
      [node ? `cd ${folder} && npm install && npm start` : `make ${folder}`],
      dryRun,
      world,
    );
  },
});
