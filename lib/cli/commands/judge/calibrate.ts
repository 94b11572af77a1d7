import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Measure how far the judge agrees with human labels",
  description:
    "LABELS is CSV with a heading line, or JSON lines. Each label has rubric (a name, or its score's field), label (0 to 1, or pass or fail) and episode (a file, from the labels' folder or from here) or score. Writes eval/judge-calibration.json, with which results say pass rates corrected for the judge's measured error beside the raw ones.",
  group: "Evaluation",
  args: [{ name: "LABELS", summary: "CSV or JSON lines with human labels" }],
  flags: {
    threshold: {
      type: "number",
      min: 0,
      max: 1,
      default: 0.5,
      value: "SCORE",
      summary: "From where on a score or a label is a pass",
    },
    ask: { type: "boolean", summary: "Ask the judge where an episode has no score" },
    model: { type: "string", value: "PROVIDER:MODEL", summary: "Another judge than eval.yaml's, with --ask" },
    output: { type: "string", value: "FILE", summary: "Write the calibration there" },
    "dry-run": { type: "boolean", summary: "Show it, and write nothing" },
    json: { type: "boolean", summary: "Print it as JSON" },
  },
  examples: [
    { command: "bat judge calibrate eval/labels.csv", does: "Hold a run's scores against labels" },
    {
      command: "bat judge calibrate labels.jsonl --ask --threshold 0.7",
      does: "Judge what has no score yet",
    },
  ],
  async run({ args, flags }, world) {
    const { calibrate } = await import("../../../judge/calibrate.ts");
    await calibrate(
      {
        labels: args.LABELS,
        threshold: flags.threshold,
        ask: flags.ask === true,
        model: flags.model,
        output: flags.output,
        dryRun: flags["dry-run"] === true,
        json: flags.json === true,
      },
      world,
    );
  },
});
