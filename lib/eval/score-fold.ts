import { CalibratedCount, type CalibratedRate, type Calibration } from "../judge/calibration.ts";
import { Spread } from "./aggregates.ts";
import type { Episode } from "./episode.ts";
import type { ModelResult, RubricResult } from "./observer.ts";

const NO_SCORE = "No score: ";
const LONGEST_REASON = 200;

class RubricFold {
  readonly field: string;
  readonly #calibrated: CalibratedCount | null;
  readonly #disagreement = new Spread();
  readonly #selfDisagreement = new Spread();
  readonly #tokens = { in: 0, out: 0 };
  #asked = 0;
  #known = 0;
  #cost: number | null = 0;
  #missing: RubricResult["missing"] = null;

  constructor(field: string, calibrated: CalibratedCount | null) {
    this.field = field;
    this.#calibrated = calibrated;
  }

  add(judging: NonNullable<Episode["judging"]>[string], score: unknown, reasoning: unknown): void {
    const { disagreement, self_disagreement, asked, known, tokens, cost_usd, rubric, judges } = judging;
    if (disagreement !== null) this.#disagreement.add(disagreement);
    if (self_disagreement !== null) this.#selfDisagreement.add(self_disagreement);
    this.#asked += asked;
    this.#known += known;
    this.#tokens.in += tokens.in;
    this.#tokens.out += tokens.out;
    this.#cost = this.#cost === null || cost_usd === null ? null : this.#cost + cost_usd;
    if (typeof score === "number")
      this.#calibrated?.add(score, { rubric, judges: judges.map(({ judge }) => judge) });
    else {
      const reason = String(reasoning ?? "").replaceAll("\n", " ");
      const at = reason.indexOf(NO_SCORE);
      this.#missing ??= {
        count: 0,
        reason: reason.slice(at === -1 ? 0 : at + NO_SCORE.length).slice(0, LONGEST_REASON),
      };
      this.#missing.count += 1;
    }
  }

  result(): RubricResult {
    const calibrated: CalibratedRate | null = this.#calibrated?.rate() ?? null;
    return {
      field: this.field,
      asked: this.#asked,
      known: this.#known,
      tokens: this.#tokens,
      cost_usd: this.#cost,
      missing: this.#missing,
      disagreement: meanOf(this.#disagreement),
      self_disagreement: meanOf(this.#selfDisagreement),
      calibrated,
    };
  }
}

function meanOf(spread: Spread): number | null {
  return spread.count === 0 ? null : spread.avg;
}

/** The judge's scores over a model's episodes: by field as the reference has them, and by rubric how they came about. */
export class ScoreFold {
  readonly #calibration: Calibration | null;
  readonly #fields = new Map<string, Spread>();
  readonly #rubrics = new Map<string, RubricFold>();

  constructor(calibration: Calibration | null) {
    this.#calibration = calibration;
  }

  add({ qualitative_scores, judging }: Episode): void {
    const { judge_reasoning, ...scores } = qualitative_scores ?? {};
    for (const [field, score] of Object.entries(scores)) {
      if (typeof score !== "number" && score !== null) continue;
      const spread = this.#fields.get(field) ?? new Spread();
      this.#fields.set(field, spread);
      if (score !== null) spread.add(score);
    }
    const words = (judge_reasoning ?? {}) as Record<string, unknown>;
    for (const [name, one] of Object.entries(judging ?? {}))
      this.#rubric(name, one.field).add(one, scores[one.field], words[name]);
  }

  #rubric(name: string, field: string): RubricFold {
    let fold = this.#rubrics.get(name);
    if (fold === undefined) {
      const known = this.#calibration?.rubrics;
      const calibration = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
      fold = new RubricFold(field, calibration === undefined ? null : new CalibratedCount(calibration));
      this.#rubrics.set(name, fold);
    }
    return fold;
  }

  /** Mean by field, of those that any episode has. */
  means(): Record<string, number> {
    return Object.fromEntries(this.#scored().map(([field, { avg }]) => [field, avg]));
  }

  fields(): ModelResult["qualitative"] {
    return Object.fromEntries(
      this.#scored().map(([field, { avg, min, max, count }]) => [field, { avg, min, max, count }]),
    );
  }

  rubrics(): ModelResult["judging"] {
    return Object.fromEntries([...this.#rubrics].map(([name, fold]) => [name, fold.result()]));
  }

  #scored(): [string, Spread][] {
    return [...this.#fields].filter(([, { count }]) => count > 0);
  }
}
