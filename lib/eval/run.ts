import { BatError, messageOf } from "../errors.ts";
import type { AnswerCache } from "../judge/cache.ts";
import type { Calibration } from "../judge/calibration.ts";
import type { Panel } from "../judge/settings.ts";
import type { CheckPlugin } from "../plugin/define.ts";
import type { Loaded } from "../plugin/loader.ts";
import { jsonText, writeFileAtomic } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { SpanIndex } from "../trace/span-index.ts";
import type { AgentHost } from "./agent-host.ts";
import { checkConservation, countSlots } from "./conservation.ts";
import type { Fact, NewFact, RunState } from "./facts.ts";
import { Judging } from "./judging.ts";
import { type AttemptSettings, cannotWrite, runModel, type StopReason } from "./model-run.ts";
import type { ModelResult, RunObserver, RunResult } from "./observer.ts";
import type { RunPlan } from "./plan.ts";
import { NOT_JUDGED } from "./result-file.ts";
import { modelResult } from "./results.ts";
import type { TaskSpec } from "./tasks.ts";

/** A model's agent, ready to be talked to, and where its spans are read. */
export interface OpenModel extends AsyncDisposable {
  host: AgentHost;
  url: string;
  spans: SpanIndex;
}

export interface RunInput {
  folder: RunFolder<RunPlan, Fact>;
  state: RunState;
  tasks: readonly TaskSpec[];
  checks: readonly Loaded<CheckPlugin>[];
  settings: AttemptSettings;
  /** Starts (or connects to) the agent of a model; `count` is how often that was done before in this run. */
  openModel: (model: number, count: number) => Promise<OpenModel>;
  /** The judge of a qualitative run; null without one. */
  judge: { panel: Panel; cache: AnswerCache; maxTokens: number | null } | null;
  /** The judge's measured errors; null where nobody measured them. */
  calibration: Calibration | null;
  /** Lowest pass rate (0…1) that a model may have, or null. */
  failUnder: number | null;
  observer: RunObserver;
  signal: AbortSignal;
  now: () => Date;
}

/** Exit codes of a run; `lib/cli/exit-codes.ts` has their meaning. */
const DONE = 0;
const NOT_DONE = 1;
const INTERRUPTED = 130;

/**
 * Carries out what is open of a run, model by model, then computes its results from what lies on disk. Failures stay
 * local: an attempt's, a model's. Throws only when results cannot be written.
 */
export async function executeRun(input: RunInput): Promise<RunResult> {
  const { folder, state, observer } = input;
  const { plan } = folder;
  const started = performance.now();
  const progress = {
    done: plan.models.reduce((total, _, model) => total + countSlots(plan, state, model).carriedOut, 0),
  };
  let stop: StopReason | null = null;
  for (const model of plan.models.keys()) {
    stop = await evaluateModel(input, model, progress);
    if (stop !== null) break;
  }
  const result = await resultOf(input, stopThatMatters(input, stop), performance.now() - started);
  await writeFileAtomic(folder.path("result.json"), jsonText(result));
  await record(input, { fact: "run-closed", state: result.state });
  observer.runFinished(result);
  return result;
}

/** A budget that was used up by the last attempt has stopped nothing. */
function stopThatMatters({ folder: { plan }, state }: RunInput, stop: StopReason | null): StopReason | null {
  if (stop?.kind !== "budget") return stop;
  const planned = plan.tasks.length * plan.settings.k;
  const done = [...plan.models.keys()].every(
    (model) => countSlots(plan, state, model).carriedOut === planned,
  );
  return done ? null : stop;
}

async function evaluateModel(
  input: RunInput,
  model: number,
  progress: { done: number },
): Promise<StopReason | null> {
  const { folder, state, observer, signal } = input;
  const { plan } = folder;
  if (signal.aborted) return { kind: "interrupted", message: messageOf(signal.reason) };
  const planned = plan.tasks.length * plan.settings.k;
  const { name, folder: modelFolder } = plan.models[model]!;
  const done = countSlots(plan, state, model).carriedOut;
  const judgeProgress = (waiting: number) => observer.judged({ model: name, waiting });
  const judging =
    input.judge === null ? null : new Judging({ ...input, ...input.judge, progress: judgeProgress });
  judging?.addOpen(model);
  if (done === planned) return await judged(judging, signal, null);
  const log = `agent-${model}.log`;
  observer.modelStarted({ model: name, planned, done, log });
  const count = state.modelTries(model);
  await record(input, { fact: "model-started", model, try: count });
  const begun = performance.now();
  let stop: StopReason | null = null;
  try {
    await using opened = await input.openModel(model, count);
    observer.modelReady({ model: name, url: opened.url, start_ms: performance.now() - begun });
    await folder.ensureFolder(`${modelFolder}/episodes`);
    const { host, spans, url: agentUrl } = opened;
    const { tasks, checks, settings } = input;
    stop = await runModel({
      model,
      plan,
      tasks,
      folder,
      state,
      host,
      agentUrl,
      spans,
      checks,
      settings,
      observer,
      signal,
      progress,
      judging,
    });
  } catch (error) {
    if (error instanceof BatError && error.code === "store") throw error;
    if (signal.aborted) return { kind: "interrupted", message: messageOf(signal.reason) };
    const message = messageOf(error);
    await record(input, { fact: "model-failed", model, message });
    observer.modelFailed({ model: name, message, log: plan.agent.kind === "url" ? null : log });
  }
  // The agent is stopped by now: only the judge is still at work.
  if (judging !== null && judging.open > 0 && !signal.aborted)
    observer.judging({ model: name, waiting: judging.open });
  return await judged(judging, signal, stop);
}

async function judged(
  judging: Judging | null,
  signal: AbortSignal,
  stop: StopReason | null,
): Promise<StopReason | null> {
  try {
    await judging?.drain();
  } catch (error) {
    throw cannotWrite(error);
  }
  return signal.aborted ? { kind: "interrupted", message: messageOf(signal.reason) } : stop;
}

async function record({ folder, state }: RunInput, fact: NewFact): Promise<void> {
  state.apply(fact);
  await folder.record(fact, { sync: true });
}

async function resultOf(input: RunInput, stop: StopReason | null, elapsed: number): Promise<RunResult> {
  const { folder, state, now } = input;
  const { plan } = folder;
  const models: ModelResult[] = [];
  for (const model of plan.models.keys())
    models.push(await modelResult(folder, state, model, now, input.calibration));
  const total = (key: "planned" | "carried_out" | "passed" | "failed") =>
    models.reduce((sum, result) => sum + result[key], 0);
  const problems = stop === null ? [] : [stop.message];
  for (const { model, error } of models) if (error !== null) problems.push(`Model ${model} failed: ${error}`);
  const missing = total("planned") - total("carried_out");
  if (missing > 0 && problems.length === 0)
    problems.push(`${missing} of ${total("planned")} attempts were not carried out`);
  problems.push(...judgeProblems(input, stop));
  for (const difference of await checkConservation(folder, state, models))
    problems.push(`Totals do not balance: ${difference}`);
  const complete = problems.length === 0 && missing === 0;
  const belowGate = complete ? modelsBelow(models, input.failUnder) : [];
  return {
    run: plan.id,
    directory: folder.directory,
    state: complete ? "complete" : stop === null ? "incomplete" : "stopped",
    problems: [...problems, ...belowGate],
    planned: total("planned"),
    carried_out: total("carried_out"),
    passed: total("passed"),
    failed: total("failed"),
    models,
    elapsed_ms: elapsed,
    exit_code: exitCode(stop, complete && belowGate.length === 0),
  };
}

/** Episodes that the judge did not come to. A run that was stopped says so itself. */
function judgeProblems(input: RunInput, stop: StopReason | null): string[] {
  const { folder, state, judge } = input;
  if (judge === null || stop?.kind === "interrupted") return [];
  const open = [...state.keys()].filter((key) => state.isClosed(key) && !state.isJudged(key)).length;
  if (open === 0) return [];
  const all = folder.plan.planned;
  const why = new Judging({ ...input, ...judge }).stopped ?? "the run was stopped";
  return [`${open} of ${all}${NOT_JUDGED}${why}; when that is mended, \`bat eval resume\` goes on`];
}

function modelsBelow(models: readonly ModelResult[], failUnder: number | null): string[] {
  if (failUnder === null) return [];
  return models
    .filter(({ pass_rate }) => pass_rate === null || pass_rate.value < failUnder)
    .map(
      ({ model, pass_rate }) =>
        `Model ${model} has pass rate ${pass_rate?.value ?? "none"}, below --fail-under ${failUnder}`,
    );
}

function exitCode(stop: StopReason | null, good: boolean): number {
  if (stop?.kind === "interrupted") return INTERRUPTED;
  return good ? DONE : NOT_DONE;
}
