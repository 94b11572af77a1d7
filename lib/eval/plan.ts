import * as v from "valibot";
import { BatError, problemsError } from "../errors.ts";
import { digestOf } from "../store/atomic.ts";
import { fileNames, safeName } from "../store/file-names.ts";
import type { TaskSpec } from "./tasks.ts";

const Text = v.string();
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What the command line asked for beyond the files; kept, so that a resumed run asks for the same. */
const RequestSchema = v.object({
  tasks: v.array(Text),
  models: v.array(Text),
  k: v.nullable(Count),
  qualitative: v.nullable(v.boolean()),
  runName: v.nullable(Text),
  agentUrl: v.nullable(Text),
  shard: v.nullable(Text),
});

const PlanSchema = v.object({
  schema: v.literal("bat.run.v1"),
  id: Text,
  /** Marks every process of the run; a resumed run finds by it what a killed one left. */
  token: Text,
  created_at: Text,
  versions: v.record(Text, Text),
  agent: v.object({
    title: Text,
    name: v.nullable(Text),
    kind: v.picklist(["project", "command", "url"]),
    /** The agent's folder, relative to the run's. */
    directory: Text,
  }),
  request: RequestSchema,
  settings: v.object({ k: Count, run_name: Text }),
  models: v.array(v.object({ name: Text, provider: Text, model: Text, folder: Text })),
  tasks: v.array(v.object({ id: Text, digest: Text, file: Text })),
  planned: Count,
  /** What the results depend on beside the tasks, value by value, with no secret in it. */
  configuration: v.record(Text, v.unknown()),
  source: v.object({ digest: v.nullable(Text), reason: v.optional(Text) }),
});

export type RunRequest = v.InferOutput<typeof RequestSchema>;
/** What a run set out to do: `run.json`. Fixed once written; every slot follows from models, tasks and `settings.k`. */
export type RunPlan = v.InferOutput<typeof PlanSchema>;

/** Checks what `run.json` holds. Throws BatError (code `store`) with each thing that is wrong. */
export function parsePlan(value: unknown, file: string): RunPlan {
  const parsed = v.safeParse(PlanSchema, value);
  if (parsed.success) return parsed.output;
  const schema = (value as { schema?: unknown } | null)?.schema;
  if (schema !== "bat.run.v1") {
    const found = JSON.stringify(schema) ?? "none";
    throw new BatError(
      "store",
      `${file} schema: Expected "bat.run.v1", found ${found}: it is no run of this version of bat`,
    );
  }
  const problems = parsed.issues.map((issue) => ({
    file,
    place: v.getDotPath(issue) ?? "",
    message: issue.message,
  }));
  throw problemsError("store", "The plan of the run is damaged:", problems);
}

/** `benchmark_openai-lab-model`, one a model, all different. */
export function modelFolders(
  runName: string,
  models: readonly { provider: string; model: string }[],
): string[] {
  return fileNames(
    models.map(({ provider, model }) => `${safeName(runName)}_${safeName(provider)}-${safeName(model)}`),
  );
}

/** The tasks as a plan names them: id, digest of all that is asked and expected, stem of the file names. */
export function plannedTasks(tasks: readonly TaskSpec[]): RunPlan["tasks"] {
  const files = fileNames(tasks.map((task) => task.id));
  return tasks.map((task, i) => ({ id: task.id, digest: digestOf(JSON.stringify(task)), file: files[i]! }));
}

/** Path of an attempt's episode, relative to the run's folder. */
export function episodeFile(plan: RunPlan, model: number, task: number, attempt: number): string {
  return `${plan.models[model]!.folder}/episodes/${plan.tasks[task]!.file}__try${attempt}.json`;
}

/** What makes a run that is to be resumed another one than was planned, one line each; empty where nothing does. */
export function planDifferences(planned: RunPlan, now: RunPlan): string[] {
  return [...taskDifferences(planned, now), ...configurationDifferences(planned, now)];
}

function taskDifferences(planned: RunPlan, now: RunPlan): string[] {
  const before = new Map(planned.tasks.map((task) => [task.id, task.digest]));
  const after = new Map(now.tasks.map((task) => [task.id, task.digest]));
  const differences: string[] = [];
  for (const [id, digest] of before) {
    if (!after.has(id)) differences.push(`task "${id}" is gone`);
    else if (after.get(id) !== digest) differences.push(`task "${id}" has changed`);
  }
  for (const id of after.keys()) if (!before.has(id)) differences.push(`task "${id}" is new`);
  if (differences.length === 0 && planned.tasks.some((task, i) => task.id !== now.tasks[i]?.id)) {
    differences.push("the order of the tasks has changed");
  }
  return differences;
}

function configurationDifferences(planned: RunPlan, now: RunPlan): string[] {
  const keys = new Set([...Object.keys(planned.configuration), ...Object.keys(now.configuration)]);
  return [...keys].flatMap((key) => {
    const before = JSON.stringify(planned.configuration[key]) ?? "nothing";
    const after = JSON.stringify(now.configuration[key]) ?? "nothing";
    return before === after ? [] : [`${key} was ${before}, is ${after}`];
  });
}
