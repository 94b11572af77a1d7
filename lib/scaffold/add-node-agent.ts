import { basename, join } from "node:path";
import { blueprintOf, composedAgents, makeTargets } from "./add-agent.ts";
import type { AgentOptions } from "./agent-values.ts";
import { planOwnService } from "./compose.ts";
import { checkTarget } from "./init-agent.ts";
import { checkNodeOptions, planNodeAgent } from "./init-node.ts";
import { agentFolder } from "./names.ts";
import { FilePlan, finishEarlier, type Scaffolded, type ScaffoldPlace } from "./plan.ts";
import { nextPort, nodePorts } from "./ports.ts";

/**
 * Adds an agent in TypeScript to a blueprint: a project of its own in the blueprint's folder, on a port past the others,
 * with a service of its own in the compose file. `bat eval run NAME` evaluates it like the others.
 *
 * @throws BatError (code `usage` or `config`) as `addAgent` and `initNodeAgent` do; nothing is written then
 */
export async function addNodeAgent(
  place: ScaffoldPlace,
  name: string,
  options: AgentOptions & { force: boolean },
): Promise<Scaffolded> {
  checkNodeOptions(options);
  const root = await blueprintOf(place);
  await finishEarlier(root, place);
  const folder = agentFolder(name, await makeTargets(root));
  const dir = join(root, folder);
  await checkTarget(dir, place, options.force);
  const warnings: string[] = [];
  const plan = new FilePlan(place);
  const others = [
    ...(await composedAgents(plan, root, folder, warnings)).map(({ port }) => port),
    ...(await nodePorts(root, folder)),
  ];
  const used = others.filter((port) => port !== null);
  const port = options.port ?? nextPort(used);
  if (used.includes(port))
    warnings.push(`${folder} has the port ${port} of another agent: they cannot run at once`);
  await planNodeAgent(plan, { dir, folder, name, port }, options);
  await planOwnService(plan, { root, folder: basename(root).toLowerCase(), name: folder, port });
  return { dir, written: await plan.write(root), warnings };
}
