import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import Bottleneck from "bottleneck";
import type { World } from "../cli/command.ts";
import { columnsText } from "../cli/layout.ts";
import { BatError } from "../errors.ts";
import type { Episode } from "../eval/episode.ts";
import { percent } from "../report/format.ts";
import { jsonText, writeFileAtomic } from "../store/atomic.ts";
import { printable } from "../text/printable.ts";
import { type Agreement, agreement, type Estimate } from "./agreement.ts";
import { AnswerCache } from "./cache.ts";
import { CALIBRATION_FILE, type Calibration } from "./calibration.ts";
import { type Label, readLabels } from "./labels.ts";
import { type JudgedProject, judgedProject, readEpisodeFile } from "./place.ts";
import { loadRubrics } from "./rubric.ts";
import { type RubricJudging, scoreEpisode } from "./score.ts";
import type { Panel } from "./settings.ts";

/** How labels are held against a judge. */
export interface CalibrateInput {
  labels: string;
  /** From where on a score or label is a pass, 0…1. */
  threshold: number;
  /** Asks the judge where an episode has no score. */
  ask: boolean;
  model: string | undefined;
  /** Where the calibration is written; nothing is with `dryRun`. */
  output: string | undefined;
  dryRun: boolean;
  json: boolean;
}

/** A label with the judge's score, and by what it was given; `by` is null where the labels brought it. */
interface Scored {
  label: Label;
  score: number | null;
  by: { rubric: string; judges: string[] } | null;
}

interface RubricReport extends Agreement {
  rubric: string;
  field: string;
  /** Labels whose episode has no score. */
  without_score: number;
  by: Scored["by"];
  /** The largest differences first. */
  worst: { line: number; episode: string | null; label: number; score: number }[];
}

const MOST_WORST = 5;
/** Labels that are looked at at once; calls of the judge are paced by itself. */
const AT_ONCE = 16;

/** Measures how far a judge agrees with human labels, shows it, and writes the calibration that reports use. */
export async function calibrate(input: CalibrateInput, world: World): Promise<void> {
  const project = await judgedProject(world);
  const rubrics = await loadRubrics(project.config.judges[0]?.mode ?? "full", project.sources);
  const file = resolve(world.cwd, input.labels);
  const { labels, digest } = await readLabels(file, input.labels, rubrics);
  const scored = await scoresFor(labels, file, project, input, world);
  const reports = reportsOf(scored, input.threshold);
  const calibration: Calibration = {
    schema: "bat.judge-calibration.v1",
    made_at: world.now().toISOString(),
    labels: { file: input.labels, digest },
    rubrics: Object.fromEntries(reports.map((report) => [report.rubric, calibrationOf(report, input)])),
  };
  const output = resolve(world.cwd, input.output ?? join(project.dir, CALIBRATION_FILE));
  if (!input.dryRun) {
    await mkdir(dirname(output), { recursive: true });
    await writeFileAtomic(output, `${jsonText(calibration)}\n`);
  }
  const written = input.dryRun
    ? "Nothing was written (--dry-run)"
    : `Written to ${relative(world.cwd, output)}`;
  world.stdout.write(
    input.json
      ? `${jsonText({ threshold: input.threshold, written: !input.dryRun, rubrics: reports })}\n`
      : `${reports.map((report) => text(report, input.threshold)).join("\n")}\n${written}\n`,
  );
}

function calibrationOf(
  { field, by, n, confusion, accuracy, kappa, mean_absolute_error, sensitivity, specificity }: RubricReport,
  { threshold }: CalibrateInput,
): Calibration["rubrics"][string] {
  const measured = { accuracy, kappa, mean_absolute_error, sensitivity, specificity };
  return {
    score: field,
    threshold,
    rubric: by?.rubric ?? null,
    judges: by?.judges ?? null,
    n,
    confusion,
    ...measured,
  };
}

async function scoresFor(
  labels: readonly Label[],
  file: string,
  project: JudgedProject,
  input: CalibrateInput,
  world: World,
): Promise<Scored[]> {
  const panel = input.ask ? await project.panel(input.model) : null;
  const cache = new AnswerCache(join(project.dir, project.config.outputDir, ".judge-cache"), true);
  const limiter = new Bottleneck({ maxConcurrent: AT_ONCE });
  return await Promise.all(
    labels.map((label) =>
      limiter.schedule(() => {
        world.signal.throwIfAborted();
        return scoreFor(label, file, project, panel, cache, world);
      }),
    ),
  );
}

async function scoreFor(
  label: Label,
  file: string,
  project: JudgedProject,
  panel: Panel | null,
  cache: AnswerCache,
  world: World,
): Promise<Scored> {
  if (label.score !== undefined) return { label, score: label.score, by: null };
  const beside = resolve(dirname(file), label.episode!);
  const path = existsSync(beside) ? beside : resolve(world.cwd, label.episode!);
  const episode = await readEpisodeFile(path, `${label.episode!} (line ${label.line} of the labels)`);
  const { rubric } = label;
  const known = episode.qualitative_scores?.[rubric.score];
  if (typeof known === "number" || panel === null)
    return {
      label,
      score: typeof known === "number" ? known : null,
      by: byOf(episode.judging?.[rubric.name]),
    };
  const task = project.tasks.get(episode.task_id);
  if (task === undefined)
    throw new BatError("config", `${label.episode}: its task "${episode.task_id}" is not in the dataset`);
  const one = { ...panel, rubrics: [rubric] };
  const { scores, judging } = await scoreEpisode(one, cache, episode as Episode, task);
  return { label, score: scores[rubric.score] as number | null, by: byOf(judging[rubric.name]) };
}

function byOf(judging: RubricJudging | undefined): Scored["by"] {
  if (judging === undefined) return null;
  return { rubric: judging.rubric, judges: judging.judges.map(({ judge }) => judge) };
}

function reportsOf(scored: readonly Scored[], threshold: number): RubricReport[] {
  const names = [...new Set(scored.map(({ label }) => label.rubric.name))].sort();
  return names.map((name) => {
    const all = scored.filter(({ label }) => label.rubric.name === name);
    const rows = all.flatMap(({ label, score }) =>
      score === null ? [] : [{ line: label.line, episode: label.episode ?? null, label: label.label, score }],
    );
    const distance = ({ label, score }: { label: number; score: number }) => Math.abs(label - score);
    return {
      rubric: name,
      field: all[0]!.label.rubric.score,
      ...agreement(rows, threshold),
      without_score: all.length - rows.length,
      by: oneSource(name, all),
      worst: rows
        .filter((row) => distance(row) > 0)
        .sort((a, b) => distance(b) - distance(a))
        .slice(0, MOST_WORST),
    };
  });
}

/** What all scores of a rubric were given by. Scores of several judges or versions of it measure none of them. */
function oneSource(rubric: string, scored: readonly Scored[]): Scored["by"] {
  const sources = new Map(
    scored.filter(({ score }) => score !== null).map(({ by }) => [JSON.stringify(by), by]),
  );
  if (sources.size <= 1) return [...sources.values()][0] ?? null;
  const found = [...sources.values()].map((by) =>
    by === null ? "unknown" : `${by.judges.join(" and ")} with rubric ${by.rubric.slice(0, 8)}`,
  );
  throw new BatError(
    "config",
    `${rubric}: The labelled episodes were scored in different ways, which cannot be measured as one: ${found.join("; ")}`,
  );
}

function text(report: RubricReport, threshold: number): string {
  const { rubric, field, n, without_score, confusion, worst } = report;
  const { true_positive, false_positive, false_negative, true_negative } = confusion;
  const missing = without_score === 0 ? "" : `, ${without_score} more without a score`;
  const table = columnsText(
    [
      ["", "judge passes", "judge fails"],
      ["human passes", String(true_positive), String(false_negative)],
      ["human fails", String(false_positive), String(true_negative)],
    ],
    [false, true, true],
    78,
  );
  return [
    `${rubric} (${field}), ${n} labels${missing}, a pass from ${threshold} on`,
    `  accuracy             ${share(report.accuracy)}`,
    `  Cohen's kappa        ${number(report.kappa)}`,
    `  mean absolute error  ${number(report.mean_absolute_error)}`,
    `  passes found         ${share(report.sensitivity)}`,
    `  failures found       ${share(report.specificity)}`,
    ...table.map((line) => `  ${line}`),
    ...(worst.length === 0 ? [] : ["  worst disagreements"]),
    ...worst.map(
      ({ line, episode, label, score }) =>
        `    line ${line}: human ${label}, judge ${score}${episode === null ? "" : `, ${printable(episode)}`}`,
    ),
    "",
  ].join("\n");
}

function share(estimate: Estimate | null): string {
  if (estimate === null) return "cannot be told: no such labels";
  return `${percent(estimate.value)} (95 % CI ${Math.round(estimate.low * 100)}–${percent(estimate.high)})`;
}

function number(estimate: Estimate | null): string {
  if (estimate === null) return "cannot be told: too few labels, or all of one kind";
  return `${estimate.value.toFixed(2)} (95 % CI ${estimate.low.toFixed(2)} to ${estimate.high.toFixed(2)})`;
}
