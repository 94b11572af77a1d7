import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { problemsError } from "../errors.ts";
import { check } from "../schema.ts";
import { readYaml } from "../text/yaml-read.ts";

const dollars = v.pipe(v.number(), v.minValue(0));
const Table = v.record(v.string(), v.object({ input: dollars, output: dollars }));

/** US dollars per million tokens, by `provider:model`. */
export type Prices = v.InferOutput<typeof Table>;

/**
 * The prices that a project knows, `eval/prices.yaml`; none without the file. bat has none of its own: a price that is
 * out of date is worse than none.
 *
 * @throws BatError (code `config`) with each line that is wrong
 */
export async function loadPrices(projectDir: string): Promise<Prices> {
  const file = join("eval", "prices.yaml");
  let text: string;
  try {
    text = await readFile(join(projectDir, file), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const yaml = readYaml(text, file);
  const checked = check(Table, yaml.value ?? {});
  if (checked.ok) return checked.output;
  const problems = checked.problems.map((problem, i) => ({
    file,
    place: `${problem.place} (${yaml.place(checked.paths[i] ?? [])})`,
    message: problem.message,
  }));
  throw problemsError("config", `${file} cannot be used:`, problems);
}

/** What tokens cost in US dollars; null where the price is not known. */
export function costOf(prices: Prices, judge: string, tokens: { in: number; out: number }): number | null {
  const price = Object.hasOwn(prices, judge) ? prices[judge] : undefined;
  if (price === undefined) return null;
  return (tokens.in * price.input + tokens.out * price.output) / 1_000_000;
}
