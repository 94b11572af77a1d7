import { defineCommand } from "../../command.ts";
import { keepHeapSmall } from "../../small-heap.ts";
import { RUN_FLAGS, refuseTogether, runOptions } from "./_flags.ts";

export default defineCommand({
  summary: "Evaluate an agent on its tasks",
  group: "Evaluation",
  description:
    "Starts the agent, holds every task's conversation with it k times, reads its spans to see what it really did, decides, and shows the result. What is finished is on disk at every instant; `bat eval resume` goes on from there.",
  args: [{ name: "AGENT", summary: "Agent of the blueprint; by default the one we are in", optional: true }],
  flags: {
    task: { type: "list", value: "ID", summary: "Only these tasks; * stands for anything" },
    model: { type: "list", value: "PROVIDER:MODEL", summary: "Only these models, of the file or others" },
    k: { type: "integer", min: 1, summary: "Attempts per task" },
    qualitative: { type: "boolean", negatable: true, summary: "Run the judge" },
    "output-dir": { type: "string", value: "DIR", summary: "Where the run's folder goes" },
    "run-name": { type: "string", value: "NAME", summary: "First part of the result folders' names" },
    "agent-url": { type: "string", value: "URL", summary: "Evaluate the agent that runs there already" },
    shard: { type: "string", value: "I/N", summary: "Only the I-th of N parts of the tasks" },
    "dry-run": { type: "boolean", summary: "Show what would run, and run nothing" },
    resume: { type: "string", value: "RUN", summary: "Go on with that run" },
    ...RUN_FLAGS,
  },
  examples: [
    { command: "bat eval run", does: "Everything that eval/eval.yaml says" },
    {
      command: "bat eval run --task 'draft_*' -k 5 --concurrency 4",
      does: "Some tasks, five attempts each, four at once",
    },
    {
      command: "bat eval run --agent-url http://localhost:9900 --fail-under 0.9",
      does: "A gate for an agent that runs already",
    },
  ],
  async run({ args, flags }, world) {
    keepHeapSmall();
    const { evaluate, resume } = await import("../../../eval/run-command.ts");
    const options = runOptions(flags);
    if (flags.resume !== undefined) {
      const { task, model, k, qualitative, "run-name": name, "agent-url": url, shard } = flags;
      const { "output-dir": output, "dry-run": dry } = flags;
      const fixed = { task, model, k, qualitative, "run-name": name, "agent-url": url, shard };
      refuseTogether({ ...fixed, "output-dir": output, "dry-run": dry }, "--resume");
      const { findRun } = await import("../../../eval/find-run.ts");
      return (await resume(await findRun(flags.resume, args.AGENT, world.cwd), options, world)).exit_code;
    }
    const request = {
      tasks: flags.task,
      models: flags.model,
      k: flags.k ?? null,
      qualitative: flags.qualitative ?? null,
      runName: flags["run-name"] ?? null,
      agentUrl: flags["agent-url"] ?? null,
      shard: flags.shard ?? null,
    };
    const place = { cwd: world.cwd, agent: args.AGENT, outputDir: flags["output-dir"] };
    const result = await evaluate(place, request, { ...options, dryRun: flags["dry-run"] }, world);
    return result?.exit_code ?? 0;
  },
});
