import { resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import { didYouMean } from "../text/nearest.ts";
import { judgedProject, readEpisodeFile } from "./place.ts";
import { buildPrompt, type Prompt } from "./prompt.ts";
import { loadRubrics, type Rubric } from "./rubric.ts";

/** Shows the prompt that a judge gets for one rubric and one episode and, unless only that is wanted, its answer. */
export async function tryJudge(
  asked: { rubric: string; episode: string; model: string | undefined; dryRun: boolean },
  world: World,
): Promise<void> {
  const project = await judgedProject(world);
  const first = project.config.judges[0];
  const mode = first?.mode ?? "full";
  const rubric = pick(await loadRubrics(mode, project.sources), asked.rubric);
  const episode = await readEpisodeFile(resolve(world.cwd, asked.episode), asked.episode);
  const task = project.tasks.get(episode.task_id);
  if (task === undefined)
    throw new BatError("config", `${asked.episode}: its task "${episode.task_id}" is not in the dataset`);
  const prompt = buildPrompt(rubric, episode, task, {
    mode,
    maxTrajectoryChars: first?.max_trajectory_chars ?? 24_000,
    operator: first?.prompts?.[rubric.name],
  });
  world.stdout.write(promptText(prompt));
  if (asked.dryRun) return;
  const { judges } = await project.panel(asked.model);
  for (const { name, judge } of judges) {
    const { score, reasoning, tokens, requests } = await judge.ask(rubric.name, prompt);
    const who = judges.length === 1 ? "" : ` of ${name}`;
    const cost = `${requests.length} request(s): ${requests.join(", ")}; ${tokens.in} tokens in, ${tokens.out} out`;
    world.stdout.write(
      `--- answer${who}\n${rubric.score}: ${score ?? "no score"}\n${reasoning}\n(${cost})\n`,
    );
  }
}

function promptText({ instructions, data }: Prompt): string {
  return `--- instructions\n${instructions}\n\n--- data\n${data}\n\n`;
}

function pick(rubrics: readonly Rubric[], name: string): Rubric {
  const found = rubrics.find((rubric) => rubric.name === name);
  if (found !== undefined) return found;
  const names = rubrics.map((rubric) => rubric.name);
  throw new BatError(
    "usage",
    `Unknown rubric "${name}"${didYouMean(name, names) || `; there are ${names.join(", ")}`}`,
  );
}
