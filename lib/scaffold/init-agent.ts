import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { BatError } from "../errors.ts";
import { findBlueprintRoot } from "../project/resolve.ts";
import {
  type AgentOptions,
  type AgentSettings,
  agentValues,
  checkAgentOptions,
  configOf,
  keyLine,
  requirement,
} from "./agent-values.ts";
import { clientTemplate, DEFAULT_TEMPLATE, planExports, renderClient } from "./clients.ts";
import { type ClientName, classStem, folderName, projectName, repositoryName } from "./names.ts";
import { FilePlan, finishEarlier, type Scaffolded, type ScaffoldPlace } from "./plan.ts";
import { renderTemplate, type Values } from "./render.ts";

/** Template → file in the project. A leading dot is written out, as npm would not ship every such file. */
const FILES: Readonly<Record<string, string>> = {
  "dot-dockerignore": ".dockerignore",
  "dot-gitignore": ".gitignore",
  "dot-python-version": ".python-version",
  Dockerfile: "Dockerfile",
  Makefile: "Makefile",
  "README.md": "README.md",
  "__main__.py": "__main__.py",
  "agent.spec": "agent.spec",
  "pyproject.toml": "pyproject.toml",
  "tests/__init__.py": "tests/__init__.py",
  "tests/test_agent.py": "tests/test_agent.py",
};

/** Files that a standalone agent and one of a blueprint have alike. */
const SHARED = ["agent.json", "src/__init__.py", "src/graph.py"] as const;

/**
 * Makes a standalone agent in a folder of its own.
 *
 * @throws BatError (code `usage`) for names and settings that cannot be, and for a folder that is not empty without
 *   `force`; nothing is written then
 */
export async function initAgent(
  place: ScaffoldPlace,
  name: string,
  options: AgentOptions & { outputDir: string; force: boolean },
): Promise<Scaffolded> {
  const settings = checkAgentOptions(options);
  const folder = folderName(name);
  const dir = resolve(place.cwd, options.outputDir, folder);
  await checkTarget(dir, place, options.force);
  const project = projectName(folder);
  const values = agentValues(
    { folder, classStem: classStem(name.trim()), project, description: `${project.toUpperCase()} Agent` },
    settings,
  );
  const all: Values = {
    ...values,
    texts: {
      ...values.texts,
      REQUIREMENT: requirement(settings.provider),
      REPO: repositoryName(folder, "agent"),
      KEY_LINE: keyLine(settings.provider),
    },
  };
  const plan = new FilePlan(place);
  for (const [template, file] of Object.entries(FILES))
    await plan.put(join(dir, file), await renderTemplate(`agent/${template}`, all));
  // What is in there is a key.
  await plan.putNew(join(dir, ".env"), await renderTemplate("agent/dot-env", all));
  const config = await configOf(
    await renderTemplate("agent/config.yaml", all),
    options.port ?? 9900,
    settings,
  );
  await plan.put(join(dir, "config.yaml"), config);
  const warnings = [
    ...settings.warnings,
    ...(await planAgentCode({ plan, dir, values: all, settings, pluginFolders: [place.cwd], keep: false })),
    ...(await insideBlueprint(dir)),
  ];
  return { dir, written: await plan.write(dir), warnings };
}

/** Plans card, graph and clients of an agent; what is there stays with `keep`. */
export async function planAgentCode(given: {
  plan: FilePlan;
  dir: string;
  values: Values;
  settings: AgentSettings;
  pluginFolders: readonly string[];
  keep: boolean;
}): Promise<string[]> {
  const { plan, dir, values, settings, keep } = given;
  const put = (path: string, text: string) => (keep ? plan.putNew(path, text) : plan.put(path, text));
  for (const file of SHARED) await put(join(dir, file), await renderTemplate(`agent/${file}`, values));
  const template = await clientTemplate(settings.template ?? DEFAULT_TEMPLATE, given.pluginFolders);
  const folder = join(dir, "src", "llm_clients");
  const ours: ClientName[] = [];
  for (const client of settings.clients) {
    const path = join(folder, `${client.stem}.py`);
    if (keep && (await plan.current(path)) !== null) continue;
    await plan.put(path, await renderClient(template, client));
    if (template.source === "built-in") ours.push(client);
  }
  const required = template.definition.requires ?? [];
  return [
    ...(await planExports(plan, folder, ours)),
    ...required.map(
      (name) => `The client template "${template.id}" needs a package: run \`uv add "${name}"\``,
    ),
  ];
}

/** A folder for a new project must be new, empty, or meant with `--force`. */
export async function checkTarget(dir: string, place: ScaffoldPlace, force: boolean): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found === null) return;
  if (!found.isDirectory())
    throw new BatError("usage", `"${dir}" is a file; choose another name, or remove it`);
  await finishEarlier(dir, place);
  if (force || (await readdir(dir)).length === 0) return;
  throw new BatError("usage", `"${dir}" is not empty; --force writes into it, choose another name otherwise`);
}

async function insideBlueprint(dir: string): Promise<string[]> {
  const root = await findBlueprintRoot(dirname(dir)).catch(() => null);
  if (root === null) return [];
  return [
    `"${dir}" is a project of its own, no agent of the blueprint "${root}"; \`bat add agent\` adds one to that`,
  ];
}
