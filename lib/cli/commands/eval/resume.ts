import { defineCommand } from "../../command.ts";
import { keepHeapSmall } from "../../small-heap.ts";
import { RUN_FLAGS, runOptions } from "./_flags.ts";

export default defineCommand({
  summary: "Go on with a run that was stopped anywhere",
  group: "Evaluation",
  description:
    "What is finished is not run again; an attempt that was in flight is. Refused when tasks, configuration or the agent's source have changed since, unless --force is given.",
  args: [{ name: "RUN", summary: "Folder or name of the run; by default the newest", optional: true }],
  flags: {
    force: { type: "boolean", short: "f", summary: "Go on though something has changed" },
    ...RUN_FLAGS,
  },
  examples: [{ command: "bat eval resume", does: "Go on with the newest run" }],
  async run({ args, flags }, world) {
    keepHeapSmall();
    const [{ resume }, { findRun }] = await Promise.all([
      import("../../../eval/run-command.ts"),
      import("../../../eval/find-run.ts"),
    ]);
    const directory = await findRun(args.RUN, undefined, world.cwd);
    return (await resume(directory, { ...runOptions(flags), force: flags.force }, world)).exit_code;
  },
});
