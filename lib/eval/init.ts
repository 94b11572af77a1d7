import { mkdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { BatError } from "../errors.ts";
import { packageRoot } from "../package.ts";
import { resolveAgentProject } from "../project/resolve.ts";
import { writeFileAtomic } from "../store/atomic.ts";
import { readYaml } from "../text/yaml-read.ts";
import { checkAgentUrl } from "./config.ts";

const DEFAULT_MODEL = { provider: "openai", model: "gpt-6-luna" };

/** What is made: the configuration, one task to begin with, and the place for results. */
export interface InitResult {
  dir: string;
  written: string[];
}

/**
 * Writes `eval/eval.yaml`, `eval/input/tasks.json` and `eval/output/` for an agent of the kit, or, in a folder that is
 * none, for an agent that is reached by its URL.
 *
 * @param agentUrl where an agent of another kind answers
 * @throws BatError (code `usage`) when there are such files already and `force` is not given; nothing is written then
 */
export async function initEvaluation(place: {
  cwd: string;
  agent: string | undefined;
  agentUrl: string | undefined;
  force: boolean;
}): Promise<InitResult> {
  const { cwd, agent, agentUrl, force } = place;
  if (agentUrl !== undefined) checkAgentUrl(agentUrl);
  const kit = agentUrl === undefined && (agent !== undefined || (await looksLikeKit(cwd)));
  const project = kit ? await resolveAgentProject({ cwd, agent }) : null;
  const dir = project?.dir ?? cwd;
  const files = [
    { file: join(dir, "eval", "eval.yaml"), text: await configText(project?.configPath ?? null, agentUrl) },
    { file: join(dir, "eval", "input", "tasks.json"), text: await template("tasks.json") },
  ];
  const there: string[] = [];
  for (const { file } of files)
    if ((await stat(file).catch(() => null)) !== null) there.push(relative(cwd, file));
  if (there.length > 0 && !force) {
    throw new BatError(
      "usage",
      `${there.join(" and ")} ${there.length > 1 ? "are" : "is"} there already; --force writes anew`,
    );
  }
  for (const folder of ["input", "output"]) await mkdir(join(dir, "eval", folder), { recursive: true });
  for (const { file, text } of files) await writeFileAtomic(file, text);
  return { dir, written: files.map(({ file }) => relative(cwd, file)) };
}

async function looksLikeKit(cwd: string): Promise<boolean> {
  for (const name of ["pyproject.toml", "config.yaml", "agent.json"]) {
    if ((await stat(join(cwd, name)).catch(() => null)) !== null) return true;
  }
  return false;
}

async function template(name: string): Promise<string> {
  return await readFile(join(packageRoot, "templates", "eval", name), "utf8");
}

async function configText(configPath: string | null, agentUrl: string | undefined): Promise<string> {
  const { Eta } = await import("eta");
  const eta = new Eta({
    autoEscape: false,
    autoTrim: false,
    tags: ["<@", "@>"],
    defaultExtension: "",
  });
  const { provider, model } = configPath === null ? DEFAULT_MODEL : await configuredModel(configPath);
  const values = {
    kit: configPath !== null,
    provider,
    model,
    url: JSON.stringify(agentUrl ?? "http://localhost:9900"),
  };
  return eta.renderString(await template("eval.yaml"), values);
}

/** The model that the agent itself is configured with is the one to begin with. */
async function configuredModel(configPath: string): Promise<{ provider: string; model: string }> {
  const { value } = readYaml(await readFile(configPath, "utf8"), relative(process.cwd(), configPath));
  const { provider, name } =
    (value as { model?: { provider?: unknown; name?: unknown } } | null)?.model ?? {};
  const word = (given: unknown, fallback: string) =>
    typeof given === "string" && given !== ""
      ? /^[\w./:-]+$/.test(given) && !/^[\d.]+$/.test(given)
        ? given
        : JSON.stringify(given)
      : fallback;
  return { provider: word(provider, DEFAULT_MODEL.provider), model: word(name, DEFAULT_MODEL.model) };
}
