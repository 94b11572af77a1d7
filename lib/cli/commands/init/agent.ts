import { defineCommand } from "../../command.ts";
import {
  AGENT_FLAGS,
  agentOptions,
  INTERACTIVE,
  nameOf,
  RUNTIME,
  tellScaffolded,
  withAnswers,
} from "./_agent-flags.ts";

export default defineCommand({
  summary: "Make an agent in a folder of its own",
  group: "Projects",
  args: [
    { name: "NAME", summary: "Name of the agent; its folder is called so in lower case", optional: true },
  ],
  flags: {
    ...AGENT_FLAGS,
    interactive: INTERACTIVE,
    runtime: RUNTIME,
    "output-dir": {
      type: "string",
      short: "o",
      value: "DIR",
      default: ".",
      summary: "Where to make the folder",
    },
    force: { type: "boolean", short: "f", summary: "Write into a folder that is not empty" },
  },
  examples: [
    { command: "bat init agent NetPlan", does: "With one LLM client, on port 9900" },
    { command: "bat init agent NetPlan -c planner,executor --model-provider ollama", does: "With two" },
    { command: "bat init agent NetPlan --runtime node", does: "In TypeScript" },
  ],
  async run({ args, flags }, world) {
    const node = flags.runtime === "node";
    const init = node
      ? (await import("../../../scaffold/init-node.ts")).initNodeAgent
      : (await import("../../../scaffold/init-agent.ts")).initAgent;
    const { relative } = await import("node:path");
    const name = await nameOf(args.NAME, "agent", flags.interactive, world);
    const dryRun = flags["dry-run"] === true;
    const result = await init({ cwd: world.cwd, stdout: world.stdout, dryRun }, name, {
      ...(await withAnswers(agentOptions(flags), flags.interactive, world)),
      outputDir: flags["output-dir"],
      force: flags.force === true,
    });
    const where = relative(world.cwd, result.dir) || result.dir;
    const next = [
      `cd ${shellWord(where)}`,
      "put the model's key into .env",
      node ? "npm install && npm start" : "uv run .",
    ];
    tellScaffolded(result, where, next, dryRun, world);
  },
});

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
