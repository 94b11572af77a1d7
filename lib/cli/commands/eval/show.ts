import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Show the resolved configuration of an evaluation",
  group: "Evaluation",
  args: [{ name: "AGENT", summary: "Agent of the blueprint; by default the one we are in", optional: true }],
  flags: { json: { type: "boolean", summary: "Print it as JSON" } },
  async run({ args, flags }, world) {
    const { showEvaluation } = await import("../../../eval/show.ts");
    world.stdout.write(await showEvaluation({ cwd: world.cwd, agent: args.AGENT }, flags.json === true));
  },
});
