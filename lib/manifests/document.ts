import { stat } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { readText } from "../edit/read.ts";
import { YamlText } from "../edit/yaml-edit.ts";
import { BatError, problemsError } from "../errors.ts";
import { show } from "../schema.ts";

export const API_VERSION = "orama.trirematics.io/v1";

/** A mapping of YAML. */
export type Mapping = Record<string, unknown>;

/** A manifest that is there, or is to be. */
export interface ManifestFile {
  path: string;
  /** Its name for messages. */
  shown: string;
  /** Null where there is no such file yet. */
  before: string | null;
  yaml: YamlText;
  value: Mapping;
}

/**
 * Reads a manifest of a kind, or begins one.
 *
 * @throws BatError (code `config`) for a file that is no YAML, of another kind or another version, or none that can be
 *   written
 */
export async function readManifest(path: string, kind: string, cwd: string): Promise<ManifestFile> {
  const shown = relative(cwd, path) || path;
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true)
    throw new BatError("config", `${shown} is a folder; give the file's name`);
  if (found === null && (await stat(dirname(path)).catch(() => null))?.isDirectory() !== true)
    throw new BatError(
      "config",
      `There is no folder ${relative(cwd, dirname(path)) || dirname(path)} for ${shown}; make it first`,
    );
  const before = found === null ? null : await readText(path, shown);
  // A file that says nothing but null is as good as an empty one; its comments stay.
  const yaml = new YamlText((before ?? "").replace(/^(?:null|Null|NULL|~)[ \t]*$/m, ""), { file: shown });
  const { value } = yaml;
  if (value === null || value === undefined) return { path, shown, before, yaml, value: {} };
  const fail = (at: string[], message: string): never => {
    throw problemsError("config", `${shown} cannot be used, nothing was written:`, [
      { file: shown, place: [at.join("."), `(${yaml.place(at)})`].filter(Boolean).join(" "), message },
    ]);
  };
  if (!isMapping(value)) return fail([], `Expected a ${kind}, found ${show(value)}`);
  if (value.kind !== kind) {
    const here = value.kind === undefined ? "none" : show(value.kind);
    return fail(
      ["kind"],
      `Expected kind "${kind}", found ${here}; move the file away or give another --output`,
    );
  }
  if (value.apiVersion !== undefined && value.apiVersion !== API_VERSION)
    return fail(
      ["apiVersion"],
      `Expected "${API_VERSION}", found ${show(value.apiVersion)}: another version is not understood here`,
    );
  return { path, shown, before, yaml, value };
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A part of a manifest that must be a mapping, or a list of mappings; what is missing is empty.
 *
 * @throws BatError (code `config`) with the place of what is something else
 */
export function mappingAt(file: ManifestFile, path: (string | number)[], holder: unknown): Mapping {
  if (holder === undefined || holder === null) return {};
  if (isMapping(holder)) return holder;
  throw wrong(file, path, `Expected a mapping, found ${show(holder)}`);
}

/** The same for a list of mappings. */
export function listAt(file: ManifestFile, path: (string | number)[], holder: unknown): Mapping[] {
  if (holder === undefined || holder === null) return [];
  if (!Array.isArray(holder)) throw wrong(file, path, `Expected a list, found ${show(holder)}`);
  for (const [i, item] of holder.entries())
    if (!isMapping(item)) throw wrong(file, [...path, i], `Expected a mapping, found ${show(item)}`);
  return holder as Mapping[];
}

/** Every item of such a list needs a name. */
export function namedListAt(file: ManifestFile, path: (string | number)[], holder: unknown): Mapping[] {
  const list = listAt(file, path, holder);
  for (const [i, { name }] of list.entries())
    if (typeof name !== "string" || name === "")
      throw wrong(file, [...path, i], `Expected a name, found ${show(name)}`);
  return list;
}

export function wrong(file: ManifestFile, path: (string | number)[], message: string): BatError {
  return problemsError("config", `${file.shown} cannot be updated, nothing was written:`, [
    { file: file.shown, place: `${path.join(".")} (${file.yaml.place(path)})`, message },
  ]);
}

/** Keys of a mapping in an order that begins with some; what is undefined or an empty list is left out. */
export function ordered(first: readonly string[], value: Mapping): Mapping {
  const keys = [...new Set([...first, ...Object.keys(value)])];
  return Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]));
}
