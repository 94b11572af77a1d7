import type { Episode } from "../eval/episode.ts";
import type { TaskSpec } from "../eval/tasks.ts";
import type { AnswerCache } from "./cache.ts";
import { buildPrompt } from "./prompt.ts";
import type { Rubric } from "./rubric.ts";
import type { ReadyJudge } from "./settings.ts";

/** Scores by field, and the judge's words by rubric, as episodes have them. */
export type QualitativeScores = Record<string, number | null | Record<string, string>>;

/**
 * Scores one episode by every rubric that applies. A score that cannot be had is null with its reason; it is never made
 * up. Throws only when the run is stopped.
 */
export async function scoreEpisode(
  ready: ReadyJudge,
  cache: AnswerCache,
  episode: Episode,
  task: TaskSpec,
): Promise<QualitativeScores> {
  const answers = await Promise.all(
    ready.rubrics.map((rubric) => scoreByRubric(ready, cache, rubric, episode, task)),
  );
  const scores: QualitativeScores = {};
  const reasoning: Record<string, string> = {};
  for (const [i, rubric] of ready.rubrics.entries()) {
    scores[rubric.score] = answers[i]!.score;
    reasoning[rubric.name] = answers[i]!.reasoning;
  }
  return { ...scores, judge_reasoning: reasoning };
}

async function scoreByRubric(
  ready: ReadyJudge,
  cache: AnswerCache,
  rubric: Rubric,
  episode: Episode,
  task: TaskSpec,
): Promise<{ score: number | null; reasoning: string }> {
  if (!applies(rubric, task)) return { score: null, reasoning: `skipped: ${rubric.skipped}` };
  const { mode, maxTrajectoryChars, prompts } = ready;
  const prompt = buildPrompt(rubric, episode, task, {
    mode,
    maxTrajectoryChars,
    operator: prompts[rubric.name],
  });
  const key = [...ready.identity, rubric.digest, prompt.digest];
  const known = await cache.get(key);
  if (known !== null) return known;
  const judged = await ready.judge.ask(rubric.name, prompt);
  await cache.put(key, judged);
  return judged;
}

function applies(rubric: Rubric, { expected }: TaskSpec): boolean {
  if (rubric.applies_when === "always") return true;
  return Array.isArray(expected.tool_calls) && expected.tool_calls.length > 0;
}
