import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { BatError, messageOf, type Problem } from "../errors.ts";
import { findTarget } from "../eval/target.ts";
import { loadRubrics } from "../judge/rubric.ts";
import type { CheckAnswer, CheckInput, CheckPlugin } from "./define.ts";
import { pluginId } from "./files.ts";
import { kindNames, type Loaded, loadAnyPlugins } from "./loader.ts";
import { type PluginSource, pluginSources } from "./sources.ts";

/** A plugin as it is listed. */
export interface Listed {
  kind: string;
  id: string;
  title: string;
  source: string;
  /** Absolute. */
  file: string;
}

/** Where plugins come from in a folder: bat's own, and those of the evaluation that the folder has. */
export async function sourcesAt(cwd: string): Promise<PluginSource[]> {
  try {
    const { dir, config } = await findTarget({ cwd });
    return pluginSources({ projectDir: dir, packs: config.plugins });
  } catch (error) {
    // Outside of any project, and at a blueprint's root, there are bat's own; what is wrong with a project's is told.
    const nowhere = error instanceof BatError && ["config", "usage"].includes(error.code);
    if (nowhere && error.problems.length === 0) {
      return pluginSources({ projectDir: cwd });
    }
    throw error;
  }
}

/** Loads every plugin of every kind, rubrics too, and each check's fixtures; all that is wrong is told at once. */
export async function inventory(
  sources: readonly PluginSource[],
): Promise<{ plugins: Listed[]; problems: Problem[]; fixtures: number }> {
  const plugins: Listed[] = [];
  const problems: Problem[] = [];
  let fixtures = 0;
  for (const kind of await kindNames()) {
    try {
      const loaded = await loadAnyPlugins(kind, sources);
      for (const { id, definition, source, file } of loaded)
        plugins.push({ kind, id, title: (definition as { title: string }).title, source, file });
      if (kind !== "checks") continue;
      for (const check of loaded as Loaded<CheckPlugin>[]) {
        const { count, wrong } = await runFixtures(check);
        fixtures += count;
        problems.push(...wrong);
      }
    } catch (error) {
      problems.push(...problemsOf(error));
    }
  }
  try {
    for (const { name, title, file } of await loadRubrics(null, sources))
      plugins.push({ kind: "rubrics", id: name, title, source: sourceOf(file, sources), file });
  } catch (error) {
    problems.push(...problemsOf(error));
  }
  return { plugins, problems, fixtures };
}

function problemsOf(error: unknown): Problem[] {
  return error instanceof BatError && error.problems.length > 0
    ? [...error.problems]
    : [{ message: messageOf(error) }];
}

function sourceOf(file: string, sources: readonly PluginSource[]): string {
  const own = sources.find(({ folder }) => {
    const place = folder("rubrics");
    return place !== null && !relative(place, file).startsWith("..");
  });
  return own?.title ?? "unknown";
}

/** What a check is given and must say: `fixtures/<id>/<name>.json` beside it. */
interface Fixture extends Partial<CheckInput<unknown>> {
  expected: unknown;
  /** Whether it holds, and what its reason must contain. */
  want: { ok: boolean; reason?: string };
}

/** Runs a check on its fixtures, where it has any. */
async function runFixtures(check: Loaded<CheckPlugin>): Promise<{ count: number; wrong: Problem[] }> {
  const folder = join(dirname(check.file), "fixtures", pluginId(check.id.split("/").at(-1)!));
  const names = await readdir(folder).catch(() => [] as string[]);
  const wrong: Problem[] = [];
  const files = names.filter((name) => name.endsWith(".json")).sort();
  for (const name of files) {
    const file = relative(process.cwd(), join(folder, name));
    try {
      const fixture = JSON.parse(await readFile(join(folder, name), "utf8")) as Fixture;
      const message = difference(check.definition, fixture);
      if (message !== null) wrong.push({ file, message });
    } catch (error) {
      wrong.push({ file, message: messageOf(error) });
    }
  }
  return { count: files.length, wrong };
}

function difference(check: CheckPlugin, { expected, want, ...given }: Fixture): string | null {
  const input = {
    status: "completed",
    output: "",
    trajectory: EMPTY,
    ...given,
    expected,
  } as CheckInput<unknown>;
  const answers = [check.run(input as never)].flat() as CheckAnswer[];
  const ok = answers.every((answer) => answer.ok);
  const reason = answers.map((answer) => answer.reason).join("; ");
  if (ok !== want.ok) return `Expected the check to ${want.ok ? "hold" : "fail"}, it said: ${reason}`;
  if (want.reason !== undefined && !reason.includes(want.reason))
    return `Expected a reason with ${JSON.stringify(want.reason)}, found: ${reason}`;
  return null;
}

const EMPTY = {
  found: true,
  turns: [],
  truncated: false,
  totals: {
    model_calls: 0,
    tool_calls: 0,
    agent_calls: 0,
    errors: 0,
    tokens_in: 0,
    tokens_out: 0,
    tokens_cached: 0,
  },
};
