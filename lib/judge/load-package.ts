import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BatError } from "../errors.ts";

/**
 * Imports an npm package as a project sees it, else as bat does.
 *
 * @throws BatError (code `config`) that says how to install it where neither has it
 */
export async function loadPackage(name: string, projectDir: string): Promise<Record<string, unknown>> {
  try {
    const file = createRequire(join(projectDir, "package.json")).resolve(name);
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    return (await import(name)) as Record<string, unknown>;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new BatError(
      "config",
      `This provider needs the package ${name}; install it in the project with \`npm install ${name}\``,
      { cause: error },
    );
  }
}

/** A package that only `import` may load is no missing one: its main entry is looked for by the second way. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"].includes(code ?? "");
}
