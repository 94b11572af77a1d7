import { defineCommand } from "../../command.ts";
import { keepHeapSmall } from "../../small-heap.ts";

export default defineCommand({
  summary: "Score a finished run with the judge, without the agent",
  group: "Evaluation",
  args: [{ name: "RUN", summary: "Folder or name of the run; by default the newest", optional: true }],
  flags: {
    rubric: { type: "list", value: "NAME", summary: "Only this rubric" },
    model: { type: "string", value: "PROVIDER:MODEL", summary: "Another judge than eval.yaml's" },
    "judge-cache": { type: "boolean", negatable: true, summary: "Take answers that are known already" },
    json: { type: "boolean", summary: "Print the scores as JSON" },
  },
  examples: [
    { command: "bat eval judge", does: "Score the newest run" },
    { command: "bat eval judge --rubric tone --no-judge-cache", does: "Ask one rubric anew" },
  ],
  async run({ args, flags }, world) {
    keepHeapSmall();
    const [{ judgeRun }, { findRun }] = await Promise.all([
      import("../../../eval/judge-run.ts"),
      import("../../../eval/find-run.ts"),
    ]);
    const directory = await findRun(args.RUN, undefined, world.cwd);
    const { rubric: rubrics, model, json } = flags;
    return await judgeRun(
      { directory, rubrics, model, cache: flags["judge-cache"] !== false, json: json === true },
      world,
    );
  },
});
