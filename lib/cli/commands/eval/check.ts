import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Decide a finished run's episodes anew, without the agent",
  group: "Evaluation",
  description:
    "Holds the episodes of a run against the tasks as they are now: for trying out expectations, and after changing a check. Writes nothing unless --write is given.",
  args: [{ name: "RUN", summary: "Folder or name of the run; by default the newest", optional: true }],
  flags: {
    dataset: {
      type: "string",
      value: "FILE",
      summary: "Tasks to decide by; by default those of eval/eval.yaml",
    },
    write: { type: "boolean", summary: "Put the new verdicts into the run's files" },
    "fail-under": {
      type: "number",
      min: 0,
      max: 1,
      value: "RATE",
      summary: "Exit with 1 when a model's pass rate is below this",
    },
    json: { type: "boolean", summary: "Print the result as JSON" },
  },
  examples: [
    { command: "bat eval check --dataset stricter.json", does: "Would the newest run pass stricter tasks?" },
  ],
  async run({ args, flags }, world) {
    const [{ checkRun }, { findRun }] = await Promise.all([
      import("../../../eval/check-run.ts"),
      import("../../../eval/find-run.ts"),
    ]);
    const directory = await findRun(args.RUN, undefined, world.cwd);
    const { dataset, write, json } = flags;
    return await checkRun(
      { directory, dataset, write: write === true, failUnder: flags["fail-under"], json: json === true },
      world,
    );
  },
});
