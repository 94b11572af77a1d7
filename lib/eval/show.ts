import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { publicConfig } from "./config.ts";
import { findTarget } from "./target.ts";
import { loadTasks } from "./tasks.ts";

/** The configuration of an evaluation as it will be used, with its tasks; no value that may be secret. */
export async function showEvaluation(
  place: { cwd: string; agent: string | undefined },
  json: boolean,
): Promise<string> {
  const { kind, title, dir, project, config } = await findTarget(place);
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const tasks = await loadTasks(config.datasets, checks, dir);
  const shown = {
    agent: { kind, title, directory: dir, start: project?.command ?? config.agent.command ?? null },
    tasks: tasks.map(({ id, turns }) => ({ id, turns: turns.length })),
    checks: checks.map(({ id, source }) => ({ id, source })),
    evaluation: publicConfig(config),
  };
  if (json) return `${JSON.stringify(shown, null, 2)}\n`;
  // Through JSON, so that what is the same object in two places is written out in both.
  const { stringify } = await import("yaml");
  return stringify(JSON.parse(JSON.stringify(shown)));
}
