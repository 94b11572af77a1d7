import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { BatError } from "../errors.ts";
import { findBlueprintRoot } from "../project/resolve.ts";
import { clientTemplate, DEFAULT_TEMPLATE, planExports, renderClient } from "./clients.ts";
import { clientNames } from "./names.ts";
import { FilePlan, finishEarlier, type Scaffolded, type ScaffoldPlace } from "./plan.ts";

/**
 * Adds LLM clients to the agent that a folder is, and writes its `__init__.py` of clients anew.
 *
 * @param names a comma list
 * @throws BatError (code `usage`) for names that yield no Python, a template that is not known, and a folder that is no
 *   agent's; nothing is written then
 */
export async function addClients(
  place: ScaffoldPlace,
  names: string,
  options: { template: string | undefined; force: boolean },
): Promise<Scaffolded> {
  const { clients, skipped } = clientNames(names, "NAMES");
  const here = await realpath(place.cwd);
  const folder = join(here, "src", "llm_clients");
  if ((await stat(folder).catch(() => null))?.isDirectory() !== true) {
    throw new BatError(
      "usage",
      `There is no folder src/llm_clients in "${place.cwd}"; go to the folder of an agent`,
    );
  }
  await finishEarlier(here, place);
  const root = await findBlueprintRoot(here);
  const template = await clientTemplate(
    options.template ?? DEFAULT_TEMPLATE,
    root === null ? [here] : [here, root],
  );
  const plan = new FilePlan({ ...place, cwd: here });
  const warnings = skipped.map((item) => `"${item}" names no client and is passed over`);
  for (const client of clients) {
    const path = join(folder, `${client.stem}.py`);
    const text = await renderClient(template, client);
    if (options.force) await plan.put(path, text);
    else if (!(await plan.putNew(path, text)))
      warnings.push(`${plan.shown(path)} is there already and stays; --force writes it anew`);
  }
  warnings.push(...(await planExports(plan, folder, [])));
  for (const name of template.definition.requires ?? [])
    warnings.push(`The client template "${template.id}" needs a package: run \`uv add "${name}"\``);
  return { dir: folder, written: await plan.write(here), warnings };
}
