import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BatError, messageOf, type Problem, problemsError } from "../errors.ts";
import type { Plot, PlottedModel } from "../plugin/define.ts";
import { loadPlugins } from "../plugin/loader.ts";
import type { PluginSource } from "../plugin/sources.ts";
import { writeFileAtomic } from "../store/atomic.ts";
import { drawAll } from "./draw.ts";

/**
 * Draws the charts of every folder with a `metrics.json` below one, as PNG and SVG beside them.
 *
 * @param filter only folders whose name holds this text
 * @returns the names of the files, in order
 * @throws BatError (code `usage`) when there is nothing to draw; `config` with each file that is none
 */
export async function plotFolder(
  folder: string,
  filter: string | undefined,
  sources: readonly PluginSource[],
  signal: AbortSignal,
): Promise<string[]> {
  const models = await readModels(folder, filter);
  const plotters = await loadPlugins("plotters", sources);
  const plots = plotters.flatMap(({ definition }) => [...definition.plot(models)]);
  const taken = new Map<string, number>();
  const written: string[] = [];
  const named = plots.map((plot) => distinct(plot, taken));
  for await (const { svg, png } of drawAll(named.map(({ spec }) => spec))) {
    signal.throwIfAborted();
    const { stem } = named[written.length / 2]!;
    await writeFileAtomic(join(folder, `${stem}.svg`), svg);
    const temporary = join(folder, `.${stem}.png.${process.pid}.tmp`);
    await writeFile(temporary, png);
    await rename(temporary, join(folder, `${stem}.png`));
    written.push(`${stem}.png`, `${stem}.svg`);
  }
  return written;
}

/** Two tasks may have names that make one file name. */
function distinct(plot: Plot, taken: Map<string, number>): Plot {
  const count = (taken.get(plot.stem) ?? 0) + 1;
  taken.set(plot.stem, count);
  return count === 1 ? plot : { ...plot, stem: `${plot.stem}-${count}` };
}

async function readModels(folder: string, filter: string | undefined): Promise<PlottedModel[]> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw new BatError("usage", `Cannot read "${folder}": ${messageOf(error)}`, { cause: error });
  }
  const models: PlottedModel[] = [];
  const problems: Problem[] = [];
  for (const name of names.filter((one) => filter === undefined || one.includes(filter))) {
    const file = join(folder, name, "metrics.json");
    const text = await readFile(file, "utf8").catch(() => null);
    if (text === null) continue;
    try {
      const { per_episode } = JSON.parse(text) as { per_episode?: PlottedModel["episodes"] };
      if (!Array.isArray(per_episode)) throw new TypeError("Expected per_episode to be a list");
      models.push({ name, episodes: per_episode });
    } catch (error) {
      problems.push({ file, message: messageOf(error) });
    }
  }
  if (problems.length > 0) throw problemsError("config", "Metrics cannot be read:", problems);
  if (models.length > 0) return models;
  const which = filter === undefined ? "" : ` whose name holds "${filter}"`;
  throw new BatError("usage", `No folder${which} with a metrics.json in "${folder}"`);
}
