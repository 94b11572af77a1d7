import { defineCommand } from "../command.ts";

export default defineCommand({
  summary: "Look at the machine and the project, and say how to mend what is wrong",
  description:
    "Programs (Node, uv, make, docker), then each agent: configuration, port, model and its key, dispatcher, privacy floor, evaluation files, plugins, judge. Nothing is started, changed or sent. Ends with 1 where something cannot work.",
  group: "Projects",
  args: [{ name: "AGENT", summary: "Only this agent of the blueprint", optional: true }],
  flags: { json: { type: "boolean", summary: "Print the findings as JSON" } },
  examples: [{ command: "bat doctor", does: "Look at everything here" }],
  async run({ args, flags }, world) {
    const { doctor } = await import("../../doctor/doctor.ts");
    return await doctor({ agent: args.AGENT, json: flags.json === true }, world);
  },
});
