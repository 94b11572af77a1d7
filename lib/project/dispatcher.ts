import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Whether a blueprint's `__main__.py` can start an agent: it imports packages by name, or names this one. */
export async function canDispatch(root: string, agent: string): Promise<boolean> {
  const main = await readFile(join(root, "__main__.py"), "utf8").catch(() => "");
  return main.includes("import_module(") || main.includes(`"${agent}"`) || main.includes(`'${agent}'`);
}
