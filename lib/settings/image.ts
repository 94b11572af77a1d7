import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { setMakeVariables } from "../edit/makefile-edit.ts";
import { finishPending } from "../edit/pending.ts";
import { readText } from "../edit/read.ts";
import { type WriteOptions, writeChanges } from "../edit/write.ts";
import { BatError } from "../errors.ts";
import { findMakefile } from "../image/makefile.ts";
import { checkRegistry, checkRepo } from "../image/reference.ts";
import { findBlueprintRoot } from "../project/resolve.ts";
import type { SettingsResult } from "./config.ts";

/** An empty registry takes it out. */
export interface ImageSettings {
  registry?: string | undefined;
  repo?: string | undefined;
}

/**
 * Sets `DOCKER_REGISTRY` and `REPO` in the Makefile of the blueprint that a folder is in, or else of the folder.
 *
 * @throws BatError (code `usage`) for what names no image, and when nothing is given; (code `config`) when there is no
 *   Makefile or it has no line for it; nothing is written then
 */
export async function setImage(
  cwd: string,
  { registry, repo }: ImageSettings,
  options: Pick<WriteOptions, "dryRun" | "stdout">,
): Promise<SettingsResult> {
  if (registry === undefined && repo === undefined)
    throw new BatError("usage", "Nothing to set: give at least one of --docker-registry, --repo");
  if (registry !== undefined && registry !== "") checkRegistry(registry, "--docker-registry");
  if (repo !== undefined) checkRepo(repo, "--repo");
  const here = await realpath(cwd);
  const root = (await findBlueprintRoot(here)) ?? here;
  const path = await findMakefile(root);
  if (path === null) {
    throw new BatError(
      "config",
      `There is no Makefile in "${root}"; give --docker-registry and --repo to \`bat build\` and \`bat push\` instead`,
    );
  }
  const file = relative(here, path);
  const finished = options.dryRun === true ? false : await finishPending(root);
  const before = await readText(path, file);
  const values = {
    ...(registry === undefined ? {} : { DOCKER_REGISTRY: registry }),
    ...(repo === undefined ? {} : { REPO: repo }),
  };
  const after = setMakeVariables(before, file, values);
  const written = await writeChanges([{ path, before, after }], { ...options, root, cwd: here });
  return { file, keys: Object.keys(values), changed: written.length > 0, finished };
}
