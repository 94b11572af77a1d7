import { existsSync, readFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { BatError, messageOf, type Problem, problemsError } from "../errors.ts";
import { packageRoot } from "../package.ts";
import { check } from "../schema.ts";
import { API_VERSION } from "./define.ts";

/** A place that plugins come from. */
export interface PluginSource {
  /** For `plugin list` and messages: `built-in`, `project`, or the pack's name. */
  title: string;
  /** Prefix of ids, for packs. */
  pack: string | null;
  /** Whether a folder it names must be there. */
  required: boolean;
  /** Absolute folder with its plugins of a kind, or null where it has none. */
  folder(kind: string): string | null;
}

const BUILT_IN = fileURLToPath(new URL("../../plugins", import.meta.url));
/** Rubrics are text files, in folders of their own. */
const RUBRICS = "rubrics";

const PackSchema = v.looseObject({
  name: v.string(),
  version: v.optional(v.string()),
  bat: v.looseObject({
    apiVersion: v.literal(
      API_VERSION,
      ({ received }) => `expected apiVersion ${API_VERSION}, received ${received}`,
    ),
  }),
});

/**
 * Where plugins come from: the package itself, the project's `eval/plugins/`, and the packs that `eval.yaml` names. A
 * pack is found from the project's folder as Node would find it, or by its path; nothing else is looked at.
 *
 * @throws BatError (code `plugin`) with every pack that is not there or no pack
 */
export function pluginSources({
  projectDir,
  packs = [],
}: {
  projectDir?: string;
  packs?: readonly string[];
} = {}): PluginSource[] {
  const sources: PluginSource[] = [
    {
      title: "built-in",
      pack: null,
      required: false,
      folder: (kind) => (kind === RUBRICS ? join(packageRoot, RUBRICS) : join(BUILT_IN, kind)),
    },
  ];
  if (projectDir === undefined) return sources;
  resolveOwnNames();
  sources.push({
    title: "project",
    pack: null,
    required: false,
    folder: (kind) =>
      kind === RUBRICS ? join(projectDir, "eval", RUBRICS) : join(projectDir, "eval", "plugins", kind),
  });
  const problems: Problem[] = [];
  for (const pack of packs) {
    try {
      sources.push(packSource(pack, projectDir));
    } catch (error) {
      problems.push({ message: `Cannot use the pack "${pack}": ${messageOf(error)}` });
    }
  }
  if (problems.length > 0) throw problemsError("plugin", "Packs named under plugins: in eval.yaml", problems);
  return sources;
}

function packSource(name: string, projectDir: string): PluginSource {
  const folder = packFolder(name, projectDir);
  const checked = check(
    PackSchema,
    JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as unknown,
  );
  if (!checked.ok) {
    const [first] = checked.problems;
    throw new BatError(
      "plugin",
      `its package.json is no pack's: ${first?.place ?? ""}: ${first?.message ?? ""}`,
    );
  }
  const { output } = checked;
  return {
    title: output.version === undefined ? output.name : `${output.name} ${output.version}`,
    pack: output.name,
    required: true,
    folder: (kind) => {
      const place = (output.bat as Record<string, unknown>)[kind];
      return typeof place === "string" ? join(folder, place) : null;
    },
  };
}

function packFolder(name: string, projectDir: string): string {
  if (name.startsWith(".") || isAbsolute(name)) {
    const folder = resolve(projectDir, name);
    if (!existsSync(join(folder, "package.json")))
      throw new BatError("plugin", `"${folder}" has no package.json`);
    return folder;
  }
  const require = createRequire(join(projectDir, "package.json"));
  for (const place of require.resolve.paths(name) ?? []) {
    if (existsSync(join(place, name, "package.json"))) return join(place, name);
  }
  throw new BatError(
    "plugin",
    `it is not installed; run "npm install ${name}" in "${dirname(join(projectDir, "x"))}"`,
  );
}

let resolving = false;

/**
 * Lets plugins outside of this package import `bat-toolkit` and `valibot` though their project has not installed them:
 * the first always is this very package, the second this package's where the project has none.
 */
function resolveOwnNames(): void {
  if (resolving) return;
  resolving = true;
  const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  const own = new URL(`./mod${extension}`, import.meta.url).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "bat-toolkit") return { url: own, shortCircuit: true };
      if (specifier !== "valibot") return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
