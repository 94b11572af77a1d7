import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BatError } from "../errors.ts";
import { packageRoot } from "../package.ts";
import type { ClientPlugin } from "../plugin/define.ts";
import { type Loaded, loadPlugins } from "../plugin/loader.ts";
import { type PluginSource, pluginSources } from "../plugin/sources.ts";
import { didYouMean } from "../text/nearest.ts";
import type { ClientName } from "./names.ts";
import type { FilePlan } from "./plan.ts";
import { render, renderTemplate } from "./render.ts";

/** The client that is written where no other is asked for. */
export const DEFAULT_TEMPLATE = "chat";

/**
 * The template of that id: built-in, of the project or of a pack that its `eval.yaml` names.
 *
 * @param folders where projects may keep their own, nearest first
 * @throws BatError (code `usage`) with the nearest id and all of them; (code `plugin`) for one that does not load
 */
export async function clientTemplate(id: string, folders: readonly string[]): Promise<Loaded<ClientPlugin>> {
  const templates = await loadPlugins("clients", await sourcesOf(folders));
  const found = templates.find((template) => template.id === id);
  if (found !== undefined) return found;
  const known = templates.map((template) => template.id);
  throw new BatError(
    "usage",
    `--template must be one of ${known.join(", ")}, got "${id}"${didYouMean(id, known)}`,
  );
}

async function sourcesOf(folders: readonly string[]): Promise<PluginSource[]> {
  const [first, ...others] = [...new Set(folders)];
  if (first === undefined) return pluginSources();
  const sources = pluginSources({ projectDir: first, packs: await packsOf(first) });
  for (const projectDir of others)
    sources.push(...pluginSources({ projectDir, packs: await packsOf(projectDir) }).slice(1));
  return sources;
}

/** The packs that a project's `eval.yaml` names; an evaluation tells what is wrong with that file, not this. */
async function packsOf(dir: string): Promise<string[]> {
  const file = join(dir, "eval", "eval.yaml");
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return [];
  const { readYaml } = await import("../text/yaml-read.ts");
  try {
    const { plugins } = (readYaml(text, file).value ?? {}) as { plugins?: unknown };
    return Array.isArray(plugins) ? plugins.filter((pack) => typeof pack === "string") : [];
  } catch {
    return [];
  }
}

/** A client's module. Throws BatError (code `plugin`) when the template cannot be read or filled. */
export async function renderClient(
  { id, definition, file, source }: Loaded<ClientPlugin>,
  { stem, className }: ClientName,
): Promise<string> {
  const more = definition.values?.({ className, fileStem: stem }) ?? {};
  const values = { texts: { ...more, CLIENT: className } };
  if (source === "built-in" && dirname(file).startsWith(packageRoot))
    return await renderTemplate(`clients/${definition.template}`, values);
  const path = join(dirname(file), definition.template);
  try {
    return render(await readFile(path, "utf8"), path, values);
  } catch (error) {
    throw new BatError("plugin", `Cannot use the client template "${id}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function classIn(text: string, stem: string): Promise<string | null> {
  // The parser is loaded for the clients of others only.
  const { clientClass } = await import("./python-classes.ts");
  return await clientClass(text, stem);
}

/**
 * Plans `__init__.py` of a folder of clients: an import for each `*_client.py`, on disk or planned, of the class that it
 * declares.
 *
 * @param known clients that are written by us, whose files need no reading
 * @returns warnings: files without a class, and two with one class
 */
export async function planExports(
  plan: FilePlan,
  folder: string,
  known: readonly ClientName[],
): Promise<string[]> {
  const onDisk = await readdir(folder).catch(() => []);
  const planned = plan.paths
    .filter((path) => dirname(path) === folder)
    .map((path) => path.slice(folder.length + 1));
  const files = [...new Set([...onDisk, ...planned])].filter((name) =>
    /^[A-Za-z_]\w*_client\.py$/.test(name),
  );
  const warnings: string[] = [];
  const imports: string[] = [];
  const owner = new Map<string, string>();
  for (const name of files.sort()) {
    const path = join(folder, name);
    const stem = name.slice(0, -".py".length);
    const className =
      known.find((client) => client.stem === stem)?.className ??
      (await classIn((await plan.text(path)) ?? "", stem));
    if (className === null) {
      warnings.push(`${plan.shown(path)} declares no class and is left out of __init__.py`);
      continue;
    }
    const other = owner.get(className);
    if (other !== undefined)
      warnings.push(
        `${other} and ${name} both declare ${className}: the second hides the first in __init__.py`,
      );
    owner.set(className, name);
    imports.push(`from .${stem} import ${className}`);
  }
  const values = { texts: {}, code: { CLIENT_EXPORTS: imports } };
  await plan.put(
    join(folder, "__init__.py"),
    await renderTemplate("agent/src/llm_clients/__init__.py", values),
  );
  return warnings;
}
