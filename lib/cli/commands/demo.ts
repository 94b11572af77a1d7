import { defineCommand } from "../command.ts";

export default defineCommand({
  summary: "Evaluate an agent that ships with bat: no key, no Python, no network",
  group: "Evaluation",
  description:
    "Makes a folder with three tasks for a small warehouse agent and evaluates it as `bat eval run` evaluates any agent. One task fails for a reason worth looking at.",
  flags: {
    "output-dir": {
      type: "string",
      short: "o",
      value: "DIR",
      summary: "Folder to make; by default bat-demo, or bat-demo-2 …",
    },
    json: { type: "boolean", summary: "Print the result as JSON" },
  },
  examples: [{ command: "bat demo", does: "See the whole of an evaluation in a few seconds" }],
  async run({ flags }, world) {
    const { runDemo } = await import("../../demo/demo.ts");
    return await runDemo({ outputDir: flags["output-dir"], json: flags.json === true }, world);
  },
});
