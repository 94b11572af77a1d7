import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { messageOf } from "../errors.ts";
import { loadEvalConfig } from "../eval/config.ts";
import { loadTasks } from "../eval/tasks.ts";
import { readyPanel } from "../judge/settings.ts";
import { kindNames, loadAnyPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { readDotenv } from "../project/dotenv.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Looks at what an agent's evaluation is made of: `eval/eval.yaml`, plugins, tasks, the judge. */
export async function lookAtEvaluation(
  place: { dir: string; root: string; title: string; cwd: string },
  shell: Env,
): Promise<Finding[]> {
  const { dir, root, title, cwd } = place;
  const what = (name: string) => `${title}: ${name}`;
  const file = join(dir, "eval", "eval.yaml");
  if ((await stat(file).catch(() => null)) === null)
    return [warning(what("evaluation"), "There is no eval/eval.yaml", "Make it with `bat eval init`")];
  const findings: Finding[] = [];
  /** Tells what goes wrong under a name; null then. */
  const attempt = async <T>(name: string, mend: string, look: () => Promise<T>): Promise<T | null> => {
    try {
      return await look();
    } catch (error) {
      findings.push(problem(what(name), messageOf(error), mend));
      return null;
    }
  };
  const shown = relative(cwd, file);
  const config = await attempt("evaluation", `Mend ${shown}`, () => loadEvalConfig(dir, cwd));
  if (config === null) return findings;
  findings.push(ok(what("evaluation"), `${shown}: ${config.models.length} model(s), k = ${config.k}`));
  const loaded = await attempt(
    "plugins",
    "Mend the plugin, or take it away; `bat plugin doctor` tells more",
    async () => {
      const sources = pluginSources({ projectDir: dir, packs: config.plugins });
      const kinds = await kindNames();
      return (await Promise.all(kinds.map((kind) => loadAnyPlugins(kind, sources)))).flat();
    },
  );
  if (loaded === null) return findings;
  findings.push(ok(what("plugins"), `${loaded.length} load`));
  const sources = pluginSources({ projectDir: dir, packs: config.plugins });
  const checks = await loadAnyPlugins("checks", sources);
  const tasks = await attempt("tasks", "Mend the task file", () =>
    loadTasks(config.datasets, checks as Parameters<typeof loadTasks>[1], dir),
  );
  if (tasks !== null) findings.push(ok(what("tasks"), `${tasks.length} in ${config.datasets.join(", ")}`));
  if (config.judges.length === 0) return findings;
  const env = { ...(await readDotenv(join(root, ".env"), shell)), ...shell };
  const judgePlace = { dir, packs: config.plugins, env, signal: new AbortController().signal };
  const panel = await attempt("judge", "See judge in eval/eval.yaml", () =>
    readyPanel(config.judges, judgePlace),
  );
  if (panel !== null)
    findings.push(
      ok(
        what("judge"),
        `${panel.judges.map(({ name }) => name).join(", ")}, ${panel.rubrics.length} rubrics`,
      ),
    );
  return findings;
}
