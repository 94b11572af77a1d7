import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BatError, formatProblem, messageOf, type Problem } from "../errors.ts";
import { check } from "../schema.ts";
import type {
  CheckPlugin,
  ClientPlugin,
  ConventionPlugin,
  PlotterPlugin,
  ProtocolPlugin,
  ProviderPlugin,
  ReporterPlugin,
} from "./define.ts";
import { isPluginFile, pluginId } from "./files.ts";
import type { PluginKind } from "./kind.ts";
import type { PluginSource } from "./sources.ts";

/** Kinds of plugins and their definitions; each kind's folder has the kind's name. */
export interface Definitions {
  checks: CheckPlugin;
  protocols: ProtocolPlugin;
  conventions: ConventionPlugin;
  reporters: ReporterPlugin;
  providers: ProviderPlugin;
  plotters: PlotterPlugin;
  clients: ClientPlugin;
}

/** A plugin that was loaded and fits its kind. */
export interface Loaded<D> {
  /** File name without ending; `pack/id` for one of a pack. */
  id: string;
  definition: D;
  /** Absolute path of the module. */
  file: string;
  source: string;
}

const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const KINDS = new URL("./kinds/", import.meta.url);

async function kindOf(kind: string): Promise<PluginKind> {
  const module = (await import(new URL(`${kind}${EXTENSION}`, KINDS).href)) as { default: PluginKind };
  return module.default;
}

/** Names of all kinds there are. */
export async function kindNames(): Promise<string[]> {
  const names = (await readdir(fileURLToPath(KINDS))).filter(isPluginFile);
  return names.map(pluginId).sort();
}

/**
 * Loads every plugin of a kind from its sources: one import each, checked against the kind. All that is wrong with any of
 * them is told at once (BatError, code `plugin`). The result is ordered by id, wherever the plugins came from.
 */
export async function loadPlugins<K extends keyof Definitions>(
  kind: K,
  sources: readonly PluginSource[],
): Promise<Loaded<Definitions[K]>[]> {
  const description = await kindOf(kind);
  const loaded: Loaded<Definitions[K]>[] = [];
  const problems: Problem[] = [];
  for (const { id, file, source } of await pluginFiles(kind, sources)) {
    try {
      loaded.push({
        id,
        file,
        source,
        definition: (await importDefinition(file, description)) as Definitions[K],
      });
    } catch (error) {
      const reasons =
        error instanceof BatError && error.problems.length > 0
          ? error.problems
          : [{ message: messageOf(error) }];
      for (const reason of reasons) {
        problems.push({
          message: `Cannot load ${description.noun} "${id}" from ${shortPath(file)}: ${formatProblem(reason)}`,
        });
      }
    }
  }
  problems.push(...sharedNames(description, loaded));
  if (problems.length > 0) {
    throw new BatError("plugin", problems.map(formatProblem).join("\n"), { problems });
  }
  return loaded.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The same for a kind that is known by its name only. */
export async function loadAnyPlugins(
  kind: string,
  sources: readonly PluginSource[],
): Promise<Loaded<Definitions[keyof Definitions]>[]> {
  return await loadPlugins(kind as keyof Definitions, sources);
}

async function pluginFiles(kind: string, sources: readonly PluginSource[]) {
  const found: { id: string; file: string; source: string }[] = [];
  for (const source of sources) {
    const folder = source.folder(kind);
    if (folder === null) continue;
    let names: string[];
    try {
      names = (await readdir(folder)).filter(isPluginFile).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" && !source.required) continue;
      const problem = { message: `Cannot read the ${kind} of ${source.title}: ${messageOf(error)}` };
      throw new BatError("plugin", problem.message, { problems: [problem], cause: error });
    }
    for (const name of names) {
      const id = pluginId(name);
      const file = join(folder, name);
      found.push({ id: source.pack === null ? id : `${source.pack}/${id}`, file, source: source.title });
    }
  }
  return found;
}

async function importDefinition(file: string, kind: PluginKind): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
  if (module.default === undefined) {
    throw new BatError(
      "plugin",
      `expected a default export made with define${kind.noun[0]!.toUpperCase()}${kind.noun.slice(1)}, found none`,
    );
  }
  const checked = check(kind.schema, module.default);
  if (checked.ok) return module.default;
  throw new BatError("plugin", "does not fit", { problems: checked.problems });
}

function sharedNames(kind: PluginKind, loaded: readonly Loaded<unknown>[]): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  const claim = (what: string, name: string, file: string) => {
    const key = `${what} ${name}`;
    const other = seen.get(key);
    if (other === undefined) seen.set(key, file);
    else
      problems.push({
        message: `Two ${kind.noun}s have the ${what} "${name}": ${shortPath(other)} and ${shortPath(file)}`,
      });
  };
  for (const { id, file, definition } of loaded) {
    claim("id", id, file);
    if (kind.unique !== undefined) claim(kind.unique.what, kind.unique.of(definition), file);
  }
  return problems;
}

function shortPath(file: string): string {
  const short = relative(process.cwd(), file);
  return short === "" || short.startsWith("..") ? file : short;
}
