import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { BatError, problemsError } from "../errors.ts";
import { wilson } from "../eval/statistics.ts";
import { check } from "../schema.ts";
import { correctedShare, type Estimate } from "./agreement.ts";

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const estimate = v.nullable(v.object({ value: v.number(), low: v.number(), high: v.number() }));

const RubricCalibration = v.object({
  /** The score's field. */
  score: v.string(),
  threshold: share,
  /** Digest of the rubric that was used, and who judged; null where labels brought scores of their own. */
  rubric: v.nullable(v.string()),
  judges: v.nullable(v.array(v.string())),
  n: count,
  confusion: v.object({
    true_positive: count,
    false_positive: count,
    false_negative: count,
    true_negative: count,
  }),
  accuracy: estimate,
  kappa: estimate,
  mean_absolute_error: estimate,
  sensitivity: estimate,
  specificity: estimate,
});

const CalibrationSchema = v.object({
  schema: v.literal("bat.judge-calibration.v1"),
  made_at: v.string(),
  labels: v.object({ file: v.string(), digest: v.string() }),
  rubrics: v.record(v.string(), RubricCalibration),
});

/** A judge's measured errors, by rubric. */
export type Calibration = v.InferOutput<typeof CalibrationSchema>;
export type RubricCalibration = v.InferOutput<typeof RubricCalibration>;

/** Where a project keeps it. */
export const CALIBRATION_FILE = join("eval", "judge-calibration.json");

/**
 * The calibration of a project; null without one.
 *
 * @throws BatError (code `config`) with each thing that is wrong in the file
 */
export async function loadCalibration(dir: string): Promise<Calibration | null> {
  let text: string;
  try {
    text = await readFile(join(dir, CALIBRATION_FILE), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BatError("config", `${CALIBRATION_FILE}: Expected JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const checked = check(CalibrationSchema, value);
  if (checked.ok) return checked.output;
  const problems = checked.problems.map((problem) => ({ file: CALIBRATION_FILE, ...problem }));
  throw problemsError("config", "The judge's calibration cannot be used:", problems);
}

/** A pass rate by a judge's scores, as it is and corrected for the judge's measured error. */
export interface CalibratedRate {
  threshold: number;
  /** Share of the episodes with a score at or above the threshold. */
  raw: Estimate;
  /** Null where it cannot be corrected; `note` then says why. */
  corrected: Estimate | null;
  note: string | null;
}

/** Counts the scores of one rubric over a model's episodes, and whether they are of the judge that was calibrated. */
export class CalibratedCount {
  readonly #calibration: RubricCalibration;
  #n = 0;
  #positive = 0;
  #stranger: string | null = null;

  constructor(calibration: RubricCalibration) {
    this.#calibration = calibration;
  }

  /** @param by the rubric's digest and the judges that gave the score */
  add(score: number, by: { rubric: string; judges: readonly string[] }): void {
    this.#n += 1;
    if (score >= this.#calibration.threshold) this.#positive += 1;
    const { rubric, judges } = this.#calibration;
    if (rubric !== null && rubric !== by.rubric)
      this.#stranger ??= "the rubric has changed since it was calibrated";
    if (judges !== null && judges.join() !== by.judges.join())
      this.#stranger ??= `the calibration is of ${judges.join(", ")}, the scores are of ${by.judges.join(", ")}`;
  }

  rate(): CalibratedRate | null {
    const { threshold, confusion } = this.#calibration;
    const raw = wilson(this.#positive, this.#n);
    if (raw === null) return null;
    if (this.#stranger !== null) return { threshold, raw, corrected: null, note: this.#stranger };
    const corrected = correctedShare(this.#positive, this.#n, confusion);
    const note =
      corrected === null ? "the labels do not show that the judge is better than chance at both kinds" : null;
    return { threshold, raw, corrected, note };
  }
}
