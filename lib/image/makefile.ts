import { stat } from "node:fs/promises";
import { join } from "node:path";

/** Names that make looks for, in its order. */
const NAMES = ["GNUmakefile", "makefile", "Makefile"] as const;

/** The Makefile that make reads in a folder, null where there is none. */
export async function findMakefile(root: string): Promise<string | null> {
  for (const name of NAMES) {
    const path = join(root, name);
    if ((await stat(path).catch(() => null))?.isFile() === true) return path;
  }
  return null;
}
