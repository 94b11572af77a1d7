import { readdirSync } from "node:fs";
import { isPluginFile, pluginId } from "../plugin/files.ts";
import { type PluginSource, pluginSources } from "../plugin/sources.ts";

/**
 * Names of all providers there are: those of bat, of a project and of its packs. Nothing is loaded for it; packs that
 * cannot be found are told by whoever loads them.
 */
export function providerNames(place: { projectDir?: string; packs?: readonly string[] } = {}): string[] {
  return sourcesOf(place).flatMap(({ folder, pack }) => {
    const files = readNames(folder("providers")).filter(isPluginFile).sort();
    return files.map((file) => (pack === null ? pluginId(file) : `${pack}/${pluginId(file)}`));
  });
}

function sourcesOf({
  projectDir,
  packs = [],
}: {
  projectDir?: string;
  packs?: readonly string[];
}): PluginSource[] {
  if (projectDir === undefined) return pluginSources();
  try {
    return pluginSources({ projectDir, packs });
  } catch {
    return pluginSources({ projectDir });
  }
}

function readNames(folder: string | null): string[] {
  if (folder === null) return [];
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
