import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Write what an evaluation needs: eval/eval.yaml and a first task",
  group: "Evaluation",
  args: [{ name: "AGENT", summary: "Agent of the blueprint; by default the one we are in", optional: true }],
  flags: {
    force: { type: "boolean", short: "f", summary: "Write the files anew though they are there" },
    "agent-url": { type: "string", value: "URL", summary: "For an agent of another kind, where it answers" },
  },
  examples: [
    { command: "bat eval init", does: "In the agent's folder" },
    { command: "bat eval init --agent-url http://localhost:9900", does: "For any agent that speaks A2A" },
  ],
  async run({ args, flags }, world) {
    const { initEvaluation } = await import("../../../eval/init.ts");
    const { cwd } = world;
    const { written } = await initEvaluation({
      cwd,
      agent: args.AGENT,
      agentUrl: flags["agent-url"],
      force: flags.force === true,
    });
    world.stdout.write(
      `Wrote ${written.join(" and ")}\nNext: write your tasks there, then \`bat eval run\`\n`,
    );
  },
});
