import { readFile } from "node:fs/promises";
import type { AnswerCache } from "../judge/cache.ts";
import { type EpisodeScores, scoreEpisode } from "../judge/score.ts";
import type { Panel } from "../judge/settings.ts";
import { jsonText } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import type { Episode } from "./episode.ts";
import { type Fact, type NewFact, type RunState, type SlotKey, slotKey } from "./facts.ts";
import { episodeFile, type RunPlan } from "./plan.ts";
import type { TaskSpec } from "./tasks.ts";

/** At least so many episodes are judged at once; the calls themselves are paced by the judges. */
const EPISODES_AT_ONCE = 8;

/** All that judging needs of a run. */
export interface JudgingInput {
  folder: RunFolder<RunPlan, Fact>;
  state: RunState;
  tasks: readonly TaskSpec[];
  panel: Panel;
  cache: AnswerCache;
  /** Tokens that all judging of the run may take; null without a limit. */
  maxTokens: number | null;
  signal: AbortSignal;
  /** Told of each episode that was judged, with how many wait. */
  progress?: (waiting: number) => void;
}

interface Waiting {
  key: SlotKey;
  model: number;
  task: number;
  attempt: number;
}

/**
 * Judges episodes that lie on disk, beside the attempts that still run. Only the names of those that wait are kept in
 * memory. A stop loses nothing: what was not judged is judged when the run goes on.
 */
export class Judging {
  readonly #input: JudgingInput;
  readonly #atOnce: number;
  readonly #waiting: Waiting[] = [];
  readonly #working = new Set<Promise<void>>();
  #broken: unknown = null;

  constructor(input: JudgingInput) {
    this.#input = input;
    const { rubrics, judges, atOnce } = input.panel;
    // Enough that no call waits for an episode to be read or written.
    const calls = Math.max(1, rubrics.length * judges.reduce((sum, { repeats }) => sum + repeats, 0));
    this.#atOnce = Math.max(EPISODES_AT_ONCE, Math.ceil((2 * atOnce) / calls));
  }

  /** Judges the episode of a slot in its turn. */
  add(model: number, task: number, attempt: number): void {
    this.#waiting.push({ key: slotKey(model, task, attempt), model, task, attempt });
    this.#start();
  }

  /** Adds every episode of a model that was carried out and is not judged yet, or all of them. */
  addOpen(model: number, { all = false } = {}): void {
    const { plan } = this.#input.folder;
    for (const task of plan.tasks.keys()) {
      for (let attempt = 0; attempt < plan.settings.k; attempt += 1) {
        const key = slotKey(model, task, attempt);
        const { state } = this.#input;
        if (state.isClosed(key) && (all || !state.isJudged(key))) this.add(model, task, attempt);
      }
    }
  }

  /** Why nothing more is judged though episodes wait: the budget is used up, or a judge is down. */
  get stopped(): string | null {
    const { maxTokens, state, panel } = this.#input;
    if (maxTokens !== null && state.judgeTokens >= maxTokens)
      return `budget.max_judge_tokens is used up (${state.judgeTokens} of ${maxTokens})`;
    const down = panel.judges.find(({ judge }) => judge.down !== null);
    return down === undefined ? null : `${down.name} does not answer: ${down.judge.down}`;
  }

  /** Episodes that wait or are being judged. */
  get open(): number {
    return this.#waiting.length + this.#working.size;
  }

  /** Resolves when all is judged, or the run was stopped. Throws when results cannot be written. */
  async drain(): Promise<void> {
    while (this.#working.size > 0) await Promise.race(this.#working);
    if (this.#broken !== null) throw this.#broken;
  }

  #start(): void {
    while (this.#working.size < this.#atOnce && this.stopped === null) {
      if (this.#broken !== null || this.#input.signal.aborted) return;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const work = this.#judge(next)
        .catch((error: unknown) => {
          if (!this.#input.signal.aborted) this.#broken ??= error;
        })
        .then(() => {
          this.#working.delete(work);
          this.#input.progress?.(this.open);
          this.#start();
        });
      this.#working.add(work);
    }
  }

  async #judge({ key, model, task, attempt }: Waiting): Promise<void> {
    const { folder, state, tasks, panel, cache } = this.#input;
    const file = episodeFile(folder.plan, model, task, attempt);
    const episode = JSON.parse(await readFile(folder.path(file), "utf8")) as Episode;
    const found = await scoreEpisode(panel, cache, episode, tasks[task]!);
    const tokens = Object.values(found.judging).reduce((sum, one) => sum + one.tokens.in + one.tokens.out, 0);
    await folder.keep(file, jsonText(judged(episode, found)), (digest) => {
      const fact: NewFact = { fact: "judged", slot: key, episode: digest, tokens };
      state.apply(fact);
      return fact;
    });
  }
}

/** The episode with its scores. Those of other rubrics, from an earlier judging, stay. */
function judged(episode: Episode, { scores, judging }: EpisodeScores): Episode {
  const before = episode.qualitative_scores;
  const words = { ...(before?.judge_reasoning as object | undefined), ...(scores.judge_reasoning as object) };
  const merged = { ...before, ...scores, judge_reasoning: words } as Episode["qualitative_scores"];
  return { ...episode, qualitative_scores: merged, judging: { ...episode.judging, ...judging } };
}
