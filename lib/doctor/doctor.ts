import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { World } from "../cli/command.ts";
import { messageOf } from "../errors.ts";
import {
  type AgentProject,
  blueprintAgents,
  findBlueprintRoot,
  resolveAgentProject,
} from "../project/resolve.ts";
import { painter } from "../report/paint.ts";
import { jsonText } from "../store/atomic.ts";
import { printable } from "../text/printable.ts";
import { lookAtEvaluation } from "./evaluation.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { lookAtMachine } from "./machine.ts";
import { lookAtAgents } from "./project.ts";

/** Looks at the machine and at the project we are in, and says how to mend what is wrong. Resolves to the exit code. */
export async function doctor(
  place: { agent: string | undefined; json: boolean },
  world: World,
): Promise<number> {
  const { agents, findings: project } = await findAgents(world.cwd, place.agent);
  const root = agents[0]?.root ?? world.cwd;
  const isFile = async (name: string) => (await stat(join(root, name)).catch(() => null))?.isFile() ?? false;
  const findings = [
    ...(await lookAtMachine({ python: agents.length > 0, makefile: await isFile("Makefile") })),
    ...project,
    ...(await lookAtAgents(agents, world.env)),
  ];
  for (const { dir, title } of agents)
    findings.push(...(await lookAtEvaluation({ dir, root, title, cwd: world.cwd }, world.env)));
  if (agents.length === 0 && (await isFile("package.json")) && !(await isFolder(join(root, "node_modules"))))
    findings.push(problem("packages", "The project's npm packages are not installed", "Run `npm install`"));
  if (agents.length === 0 && (await isFile(join("eval", "eval.yaml")))) {
    const own = { dir: world.cwd, root: world.cwd, title: basename(world.cwd), cwd: world.cwd };
    findings.push(...(await lookAtEvaluation(own, world.env)));
  }
  const problems = findings.filter(({ state }) => state === "problem").length;
  world.stdout.write(place.json ? `${jsonText({ problems, findings })}\n` : text(findings, world));
  return problems === 0 ? 0 : 1;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/** The agents that a folder, and a name given, mean: all of a blueprint from its root. */
async function findAgents(
  cwd: string,
  agent: string | undefined,
): Promise<{ agents: AgentProject[]; findings: Finding[] }> {
  const root = await findBlueprintRoot(cwd);
  if (agent === undefined && root === cwd) {
    const names = await blueprintAgents(root);
    if (names.length === 0)
      return {
        agents: [],
        findings: [warning("project", "A blueprint without agents", "Add one with `bat add agent`")],
      };
    const agents = await Promise.all(names.map((name) => resolveAgentProject({ cwd, agent: name })));
    return { agents, findings: [ok("project", `A blueprint with ${names.join(", ")}`)] };
  }
  try {
    const found = await resolveAgentProject({ cwd, agent });
    return { agents: [found], findings: [ok("project", `The agent ${found.title}`)] };
  } catch (error) {
    if (agent !== undefined) throw error;
    const evaluated = (await stat(join(cwd, "eval", "eval.yaml")).catch(() => null)) !== null;
    const finding = evaluated
      ? ok("project", "No project of bat's kind, but an evaluation")
      : problem("project", messageOf(error), "Make an agent with `bat init agent`, or go to one's folder");
    return { agents: [], findings: [finding] };
  }
}

const MARKS = { ok: ["✓", "green"], warning: ["!", "yellow"], problem: ["✗", "red"] } as const;

function text(findings: readonly Finding[], world: World): string {
  const paint = painter(world.color);
  const lines = findings.flatMap(({ what, state, found, mend }) => {
    const [mark, style] = MARKS[state];
    const [first = "", ...more] = found.split("\n").map(printable);
    const told = [`${paint(style, mark)} ${printable(what)}: ${first}`, ...more.map((line) => `    ${line}`)];
    return mend === null ? told : [...told, `    → ${mend}`];
  });
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  const summary =
    problems + warnings === 0
      ? "All is well"
      : `${problems} problem${problems === 1 ? "" : "s"}, ${warnings} warning${warnings === 1 ? "" : "s"}`;
  return `${[...lines, "", summary].join("\n")}\n`;
}
