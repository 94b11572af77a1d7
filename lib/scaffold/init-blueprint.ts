import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { BatError } from "../errors.ts";
import { findBlueprintRoot } from "../project/resolve.ts";
import { checkProvider, keyLine, requirement } from "./agent-values.ts";
import { checkTarget } from "./init-agent.ts";
import { blueprintProject, composeName, folderName, repositoryName } from "./names.ts";
import { FilePlan, type Scaffolded, type ScaffoldPlace } from "./plan.ts";
import { renderTemplate } from "./render.ts";

/** Files that are written anew with `--force`. */
const FILES: Readonly<Record<string, string>> = {
  "dot-dockerignore": ".dockerignore",
  "dot-gitignore": ".gitignore",
  "dot-python-version": ".python-version",
  Dockerfile: "Dockerfile",
  Makefile: "Makefile",
  "README.md": "README.md",
  "__main__.py": "__main__.py",
  "pyproject.toml": "pyproject.toml",
};

/** Files that stay where they are there: the one holds keys, the other services. */
const KEPT: Readonly<Record<string, string>> = {
  "dot-env": ".env",
  "docker-compose.yaml": "docker-compose.yaml",
};

/**
 * Makes a blueprint without agents in a folder of its own.
 *
 * @throws BatError (code `usage`) for names that cannot be, within another blueprint, and for a folder that is not empty
 *   without `force`; nothing is written then
 */
export async function initBlueprint(
  place: ScaffoldPlace,
  name: string,
  options: { outputDir: string; force: boolean; modelProvider: string | undefined },
): Promise<Scaffolded> {
  const provider = checkProvider(options.modelProvider ?? "openai");
  const folder = folderName(name);
  const dir = resolve(place.cwd, options.outputDir, folder);
  const outer = await enclosingBlueprint(dirname(dir));
  if (outer !== null) {
    throw new BatError(
      "usage",
      `A blueprint cannot hold another, and "${outer}" is one; add an agent to it with \`bat add agent\`, or go elsewhere`,
    );
  }
  await checkTarget(dir, place, options.force);
  const values = {
    texts: {
      NAME: folder,
      PROJECT: blueprintProject(folder),
      COMPOSE_NAME: composeName(folder),
      DESCRIPTION: `${folder.toUpperCase()} blueprint`,
      REPO: repositoryName(folder, "blueprint"),
      SPEC_FILE: `${folder}.spec`,
      REQUIREMENT: requirement(provider),
      KEY_LINE: keyLine(provider),
    },
  };
  const plan = new FilePlan(place);
  for (const [template, file] of Object.entries({ ...FILES, "blueprint.spec": `${folder}.spec` }))
    await plan.put(join(dir, file), await renderTemplate(`blueprint/${template}`, values));
  const warnings: string[] = [];
  for (const [template, file] of Object.entries(KEPT)) {
    if (!(await plan.putNew(join(dir, file), await renderTemplate(`blueprint/${template}`, values))))
      warnings.push(`${plan.shown(join(dir, file))} stays as it is`);
  }
  return { dir, written: await plan.write(dir), warnings };
}

/** The blueprint that a folder lies in, however deep; the folder itself may not be there yet. */
async function enclosingBlueprint(start: string): Promise<string | null> {
  let dir = start;
  for (;;) {
    const real = await realpath(dir).catch(() => null);
    const found = real === null ? null : await findBlueprintRoot(real);
    if (found !== null) return found;
    const parent = dirname(dir);
    if (parent === dir) return null;
    dir = parent;
  }
}
