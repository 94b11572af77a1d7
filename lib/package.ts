import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** Folder of this package, in a checkout and installed. */
export const packageRoot: string = findRoot();

/** Whether this is the compiled package. */
export const isCompiled: boolean = !import.meta.url.endsWith(".ts");

/** Version of this package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}
