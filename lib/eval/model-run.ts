import { contextIdFor } from "../conversation/context-id.ts";
import { type Answer, holdConversation } from "../conversation/hold.ts";
import { EXIT_NEWS_MS, isAborted } from "../conversation/limits.ts";
import { BatError, messageOf } from "../errors.ts";
import type { CheckPlugin } from "../plugin/define.ts";
import type { Loaded } from "../plugin/loader.ts";
import { jsonText } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { SpanIndex } from "../trace/span-index.ts";
import type { AgentHost, HostedAgent } from "./agent-host.ts";
import { type AttemptSubject, episodeNotCarriedOut, episodeOf, SpanWait, spansQuery } from "./attempt.ts";
import type { Episode, Outcome } from "./episode.ts";
import { type Fact, type NewFact, type RunState, type SlotKey, slotKey } from "./facts.ts";
import type { Judging } from "./judging.ts";
import type { RunObserver } from "./observer.ts";
import { episodeFile, type RunPlan } from "./plan.ts";
import type { TaskSpec } from "./tasks.ts";
import { decide, failureReason } from "./verdict.ts";

/** How many finished conversations may wait for their spans and files beside those that are held. */
const CONCLUSIONS_AHEAD = 16;

/** Limits and habits of a run that its plan's settings give. */
export interface AttemptSettings {
  concurrency: number;
  turnTimeoutMs: number;
  attemptTimeoutMs: number | null;
  /** Tries after the first for an attempt that never reached the agent. */
  retries: number;
  contextIds: "plain" | "uuid";
  failFast: boolean;
  maxTokens: number | null;
  /** Time of day (ms) after which nothing new is begun. */
  deadline: number | null;
}

/** All that carrying out the attempts of one model needs. */
export interface ModelRun {
  model: number;
  plan: RunPlan;
  tasks: readonly TaskSpec[];
  folder: RunFolder<RunPlan, Fact>;
  state: RunState;
  host: AgentHost;
  agentUrl: string;
  spans: SpanIndex;
  checks: readonly Loaded<CheckPlugin>[];
  settings: AttemptSettings;
  observer: RunObserver;
  signal: AbortSignal;
  /** Counts finished attempts over all models. */
  progress: { done: number };
  /** Where finished episodes are judged; null without a judge. */
  judging: Judging | null;
}

/** Why nothing new is begun any more, though slots are open. */
export type StopReason = { kind: "budget" | "fail-fast" | "interrupted"; message: string };

interface Slot {
  key: SlotKey;
  task: TaskSpec;
  taskIndex: number;
  attempt: number;
}

type Conversed = { subject: AttemptSubject; answer: Answer } | { failure: string };

/** Carries out every open attempt of a model. Returns why it stopped early, or null when each has ended. */
export async function runModel(run: ModelRun): Promise<StopReason | null> {
  const { settings, signal } = run;
  const slots = openSlots(run);
  const spanWait = new SpanWait(run.spans);
  // Where the outcome of one attempt decides whether there is a next, that outcome is waited for.
  const ahead = settings.maxTokens !== null || settings.failFast ? 0 : CONCLUSIONS_AHEAD;
  const concluding = new Set<Promise<void>>();
  let stop: StopReason | null = null;
  let broken: unknown = null;

  const worker = async (): Promise<void> => {
    for (;;) {
      stop ??= stopReason(run);
      if (stop !== null || broken !== null) return;
      const next = slots.next();
      if (next.done === true) return;
      const slot = next.value;
      const conversed = await converse(run, slot);
      if (signal.aborted) return;
      const conclusion = conclude(run, slot, conversed, spanWait).then((episode) => {
        if (settings.failFast && !episode.verdict.passed) {
          stop ??= {
            kind: "fail-fast",
            message: `Stopped at the first failure (--fail-fast): ${episode.task_id}`,
          };
        }
      });
      concluding.add(conclusion);
      // A failure here means that results cannot be written: nothing new is begun, and the run ends with it.
      conclusion
        .catch((error: unknown) => {
          broken ??= error;
        })
        .finally(() => concluding.delete(conclusion));
      if (ahead === 0) await conclusion.catch(() => {});
      else while (concluding.size >= ahead) await Promise.race(concluding).catch(() => {});
    }
  };

  await Promise.all(Array.from({ length: settings.concurrency }, worker));
  await Promise.allSettled([...concluding]);
  if (broken !== null) throw cannotWrite(broken);
  if (signal.aborted) return { kind: "interrupted", message: messageOf(signal.reason) };
  return stop;
}

/** Results that cannot be written end the whole run: going on would lose them. */
export function cannotWrite(error: unknown): BatError {
  if (error instanceof BatError) return error;
  return new BatError(
    "store",
    `Cannot write results: ${messageOf(error)}; go on with \`bat eval resume\` when that is mended`,
    {
      cause: error,
    },
  );
}

function* openSlots(run: ModelRun): Generator<Slot> {
  for (const [taskIndex, task] of run.tasks.entries()) {
    for (let attempt = 0; attempt < run.plan.settings.k; attempt += 1) {
      const key = slotKey(run.model, taskIndex, attempt);
      if (!run.state.isClosed(key)) yield { key, task, taskIndex, attempt };
    }
  }
}

function stopReason({ settings, state, signal }: ModelRun): StopReason | null {
  if (signal.aborted) return { kind: "interrupted", message: messageOf(signal.reason) };
  if (settings.maxTokens !== null && state.tokens >= settings.maxTokens) {
    return {
      kind: "budget",
      message: `Stopped at budget.max_tokens: ${state.tokens} of ${settings.maxTokens} used`,
    };
  }
  if (settings.deadline !== null && Date.now() >= settings.deadline) {
    return { kind: "budget", message: "Stopped at budget.max_minutes" };
  }
  return null;
}

/** Holds the conversation of a slot; tries again only while no word of it has reached the agent. */
async function converse(run: ModelRun, slot: Slot): Promise<Conversed> {
  run.observer.attemptStarted(attemptId(run, slot));
  for (let tries = 0; ; tries += 1) {
    try {
      const agent = await run.host.current();
      const conversed = await converseOnce(run, slot, agent);
      if (!neverReached(conversed.answer) || run.signal.aborted) return conversed;
      // The agent had died before it could be asked: that is no try of the attempt, its successor is asked. One that
      // is about to end closes its port first: the news of its end may still be on its way.
      if (agent.exited !== undefined) await isAborted(agent.exited, EXIT_NEWS_MS);
      if (run.host.isDead(agent)) continue;
      if (tries >= run.settings.retries) return { failure: conversed.answer.problem?.message ?? "No answer" };
      await pause(Math.min(100 * 2 ** tries, 5_000), run.signal);
    } catch (error) {
      if (run.signal.aborted) return { failure: messageOf(run.signal.reason) };
      return { failure: messageOf(error) };
    }
  }
}

async function converseOnce(run: ModelRun, slot: Slot, agent: HostedAgent) {
  const generation = run.state.slot(slot.key).starts + 1;
  const contextId = contextIdFor(slot.task.id, slot.attempt, generation, run.settings.contextIds);
  await record(run, { fact: "attempt-started", slot: slot.key, context: contextId });
  const subject: AttemptSubject = {
    model: run.plan.models[run.model]!.name,
    task: slot.task,
    attempt: slot.attempt,
    contextId,
    agentUrl: run.agentUrl,
  };
  const answer = await holdConversation({
    client: agent.client,
    contextId,
    turns: slot.task.turns,
    turnTimeoutMs: run.settings.turnTimeoutMs,
    ...(run.settings.attemptTimeoutMs === null ? {} : { attemptTimeoutMs: run.settings.attemptTimeoutMs }),
    signal: run.signal,
    ...(agent.exited === undefined ? {} : { agentExited: agent.exited }),
  });
  return { subject, answer };
}

/** Connection refused, or reset before the first event: for a reason outside the agent's answer. */
function neverReached(answer: Answer): boolean {
  return !answer.answered && answer.problem?.code === "transport";
}

/** Reads the spans, decides and keeps the episode; nothing of it is kept in memory. */
async function conclude(
  run: ModelRun,
  slot: Slot,
  conversed: Conversed,
  spanWait: SpanWait,
): Promise<Episode> {
  const episode =
    "failure" in conversed
      ? notCarriedOut(run, slot, conversed.failure)
      : await explain(run, conversed, spanWait);
  const file = episodeFile(run.plan, run.model, slot.taskIndex, slot.attempt);
  const outcome: Outcome = episode.aux.outcome ?? "carried-out";
  const { tokens_in, tokens_out } = episode.trace.trajectory.totals;
  const tokens = tokens_in + tokens_out;
  await run.folder.keep(file, jsonText(episode), (digest) => {
    const fact: NewFact = { fact: "attempt-finished", slot: slot.key, episode: digest, outcome, tokens };
    run.state.apply(fact);
    return fact;
  });
  if (outcome === "carried-out") run.judging?.add(run.model, slot.taskIndex, slot.attempt);
  run.progress.done += 1;
  run.observer.attemptFinished({
    ...attemptId(run, slot),
    outcome,
    passed: episode.verdict.passed,
    reason: failureReason(episode.verdict),
    wall_ms: episode.trace.wall_ms,
    tokens,
    episode: file,
    done: run.progress.done,
    planned: run.plan.planned,
  });
  return episode;
}

async function explain(
  run: ModelRun,
  { subject, answer }: { subject: AttemptSubject; answer: Answer },
  spanWait: SpanWait,
): Promise<Episode> {
  const query = spansQuery(subject, answer, run.settings.concurrency === 1);
  try {
    if (answer.problem?.code === "agent-exited") await run.spans.refresh();
    else await spanWait.wait(query);
    const trace = run.spans.trajectory(query);
    const { status, output } = answer;
    const verdict = decide(
      subject.task.expected,
      { status, output, trajectory: trace.trajectory },
      run.checks,
    );
    return episodeOf(subject, answer, trace, verdict);
  } catch (error) {
    if (error instanceof BatError && error.code === "store") throw error;
    return episodeNotCarriedOut(subject, messageOf(error));
  } finally {
    run.spans.release(query);
  }
}

function notCarriedOut(run: ModelRun, slot: Slot, message: string): Episode {
  return episodeNotCarriedOut(
    { model: run.plan.models[run.model]!.name, task: slot.task, attempt: slot.attempt },
    message,
  );
}

async function record(run: ModelRun, fact: NewFact): Promise<void> {
  run.state.apply(fact);
  await run.folder.record(fact);
}

function attemptId(run: ModelRun, slot: Slot) {
  return { model: run.plan.models[run.model]!.name, task: slot.task.id, attempt: slot.attempt };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
