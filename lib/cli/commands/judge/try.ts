import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Show the exact prompt for a rubric and an episode, and one answer",
  group: "Evaluation",
  args: [
    { name: "RUBRIC", summary: "Name of the rubric" },
    { name: "EPISODE", summary: "File of the episode" },
  ],
  flags: {
    model: { type: "string", value: "PROVIDER:MODEL", summary: "Another judge than eval.yaml's" },
    "dry-run": { type: "boolean", summary: "Show the prompt, and ask nobody" },
  },
  examples: [
    {
      command:
        "bat judge try relevance eval/output/20261201_120000/benchmark_openai-m/episodes/hello__try0.json",
      does: "What the judge is shown, and what it says",
    },
  ],
  async run({ args, flags }, world) {
    const { tryJudge } = await import("../../../judge/try.ts");
    await tryJudge(
      { rubric: args.RUBRIC, episode: args.EPISODE, model: flags.model, dryRun: flags["dry-run"] === true },
      world,
    );
  },
});
