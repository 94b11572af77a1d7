import type { Episode } from "../eval/episode.ts";
import type { TaskSpec } from "../eval/tasks.ts";
import type { Judged } from "./ask.ts";
import type { AnswerCache } from "./cache.ts";
import { costOf } from "./prices.ts";
import { buildPrompt } from "./prompt.ts";
import type { Rubric } from "./rubric.ts";
import type { Panel, ReadyJudge } from "./settings.ts";

/** Scores by field, and the judge's words by rubric, as episodes have them. */
export type QualitativeScores = Record<string, number | null | Record<string, string>>;

/** How one rubric's score of an episode came about. */
export interface RubricJudging {
  /** The score's field. */
  field: string;
  /** Digest of the rubric's file. */
  rubric: string;
  /** Each judge's scores, one a repeat; null where there was none. */
  judges: { judge: string; scores: (number | null)[] }[];
  /** Largest less smallest of the judges' means; null with fewer than two that scored. */
  disagreement: number | null;
  /** Mean over the judges of largest less smallest of its repeats; null where none has two scores. */
  self_disagreement: number | null;
  /** Questions that were put, and answers that were known already. */
  asked: number;
  known: number;
  /** Of the questions that were put. */
  tokens: { in: number; out: number };
  /** US dollars; null where a price is not known. */
  cost_usd: number | null;
}

/** All that judging an episode gave. */
export interface EpisodeScores {
  scores: QualitativeScores;
  /** By rubric; only those that apply. */
  judging: Record<string, RubricJudging>;
}

type Answer = Judged & { known: boolean };

/**
 * Scores one episode by every rubric that applies, with every judge. A score that cannot be had is null with its reason;
 * it is never made up. Throws only when the run is stopped.
 */
export async function scoreEpisode(
  panel: Panel,
  cache: AnswerCache,
  episode: Episode,
  task: TaskSpec,
): Promise<EpisodeScores> {
  const found = await Promise.all(
    panel.rubrics.map((rubric) => scoreByRubric(panel, cache, rubric, episode, task)),
  );
  const scores: QualitativeScores = {};
  const reasoning: Record<string, string> = {};
  const judging: EpisodeScores["judging"] = {};
  for (const [i, { name, score: field }] of panel.rubrics.entries()) {
    const one = found[i]!;
    scores[field] = one.score;
    reasoning[name] = one.reasoning;
    if (one.judging !== null) judging[name] = one.judging;
  }
  return { scores: { ...scores, judge_reasoning: reasoning }, judging };
}

interface RubricScore {
  score: number | null;
  reasoning: string;
  judging: RubricJudging | null;
}

async function scoreByRubric(
  panel: Panel,
  cache: AnswerCache,
  rubric: Rubric,
  episode: Episode,
  task: TaskSpec,
): Promise<RubricScore> {
  if (!applies(rubric, task)) return { score: null, reasoning: `skipped: ${rubric.skipped}`, judging: null };
  const answers = await Promise.all(
    panel.judges.map((ready) => askRepeatedly(panel, ready, cache, rubric, episode, task)),
  );
  return combined(panel, rubric, answers);
}

async function askRepeatedly(
  { mode }: Panel,
  ready: ReadyJudge,
  cache: AnswerCache,
  rubric: Rubric,
  episode: Episode,
  task: TaskSpec,
): Promise<Answer[]> {
  const { maxTrajectoryChars, prompts, repeats, identity, judge } = ready;
  const settings = { mode, maxTrajectoryChars, operator: prompts[rubric.name] };
  return await Promise.all(
    Array.from({ length: repeats }, async (_, repeat): Promise<Answer> => {
      const prompt = buildPrompt(rubric, episode, task, settings);
      const key = [...identity, rubric.digest, prompt.digest, String(repeat)];
      const known = cache.get(key);
      if (known !== null) return { ...known, known: true };
      const judged = await judge.ask(rubric.name, prompt);
      cache.put(key, judged);
      return { ...judged, known: false };
    }),
  );
}

function combined(panel: Panel, rubric: Rubric, answers: readonly Answer[][]): RubricScore {
  const means = answers.map((repeats) => mean(scoresIn(repeats)));
  const score = mean(means.filter((one) => one !== null));
  const asked = answers.map((repeats) => repeats.filter(({ known }) => !known));
  const costs = panel.judges.map(({ priced }, i) => costOf(panel.prices, priced, tokensOf(asked[i]!)));
  return {
    score,
    reasoning: reasoningOf(panel, answers),
    judging: {
      field: rubric.score,
      rubric: rubric.digest,
      judges: panel.judges.map(({ name }, i) => ({
        judge: name,
        scores: answers[i]!.map((answer) => answer.score),
      })),
      disagreement: range(means.filter((one) => one !== null)),
      self_disagreement: mean(
        answers.map((repeats) => range(scoresIn(repeats))).filter((one) => one !== null),
      ),
      asked: asked.flat().length,
      known: answers.flat().length - asked.flat().length,
      tokens: tokensOf(asked.flat()),
      cost_usd: costs.every((cost) => cost !== null) ? costs.reduce((sum, cost) => sum + cost, 0) : null,
    },
  };
}

/** The words of the one answer, or of each with who said it. */
function reasoningOf({ judges }: Panel, answers: readonly Answer[][]): string {
  const all = answers.flat();
  if (all.length === 1) return all[0]!.reasoning;
  return judges
    .flatMap(({ name }, i) =>
      answers[i]!.map(({ score, reasoning }, repeat) => {
        const which = answers[i]!.length === 1 ? "" : ` ${repeat + 1} of ${answers[i]!.length}`;
        return `[${name}${which}: ${score ?? "no score"}] ${reasoning}`;
      }),
    )
    .join("\n");
}

function scoresIn(answers: readonly Answer[]): number[] {
  return answers.map(({ score }) => score).filter((score) => score !== null);
}

function tokensOf(answers: readonly Answer[]): { in: number; out: number } {
  return {
    in: answers.reduce((sum, { tokens }) => sum + tokens.in, 0),
    out: answers.reduce((sum, { tokens }) => sum + tokens.out, 0),
  };
}

function mean(values: readonly number[]): number | null {
  if (values.length < 2) return values[0] ?? null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function range(values: readonly number[]): number | null {
  return values.length < 2 ? null : Math.max(...values) - Math.min(...values);
}

function applies(rubric: Rubric, { expected }: TaskSpec): boolean {
  if (rubric.applies_when === "always") return true;
  return Array.isArray(expected.tool_calls) && expected.tool_calls.length > 0;
}
