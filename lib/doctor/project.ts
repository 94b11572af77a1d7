import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isListening, isLoopback, portOf } from "../agent/port.ts";
import { messageOf } from "../errors.ts";
import { agentUrl } from "../project/agent-url.ts";
import { canDispatch } from "../project/dispatcher.ts";
import { readDotenv } from "../project/dotenv.ts";
import { findPrivacyFloors } from "../project/privacy-floor.ts";
import type { AgentProject } from "../project/resolve.ts";
import { AGENT_PROVIDERS, KEY_VARIABLES } from "../settings/agent-providers.ts";
import { didYouMean } from "../text/nearest.ts";
import { readYaml } from "../text/yaml-read.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Looks at agents made with the kit, each by itself and then side by side. */
export async function lookAtAgents(agents: readonly AgentProject[], env: Env): Promise<Finding[]> {
  const findings: Finding[] = [];
  const ports = new Map<number, string[]>();
  for (const agent of agents) {
    const found = await lookAtAgent(agent, env);
    findings.push(...found.findings);
    if (found.port !== null) ports.set(found.port, [...(ports.get(found.port) ?? []), agent.title]);
  }
  for (const [port, names] of ports) {
    if (names.length < 2) continue;
    findings.push(
      problem(
        "ports",
        `${names.join(" and ")} have the same port, ${port}`,
        `Give each its own: bat set config ${names[1]} --port ${port + 1}`,
      ),
    );
  }
  return findings;
}

async function lookAtAgent(
  agent: AgentProject,
  shell: Env,
): Promise<{ findings: Finding[]; port: number | null }> {
  const { title, root, dir, name } = agent;
  const file = name === null ? "config.yaml" : `${name}/config.yaml`;
  const env = { ...(await readDotenv(join(root, ".env"), shell)), ...shell };
  const findings: Finding[] = [];
  let port: number | null = null;
  try {
    const text = await readFile(agent.configPath, "utf8");
    const url = agentUrl(text, file, env);
    port = portOf(url);
    findings.push(ok(`${title}: config`, `${file} says ${url}`));
    findings.push(...lookAtModel(title, file, readYaml(text, file).value, env));
    if (isLoopback(url) && (await isListening(url)))
      findings.push(
        warning(
          `${title}: port`,
          `Something answers on port ${port} now`,
          `Stop it before an evaluation, or take another port: bat set config${name === null ? "" : ` ${name}`} --port N`,
        ),
      );
  } catch (error) {
    findings.push(problem(`${title}: config`, messageOf(error), `Mend ${file}`));
  }
  findings.push(await lookAtCard(title, dir, name === null ? "agent.json" : `${name}/agent.json`));
  if (name !== null && !(await canDispatch(root, name)))
    findings.push(
      warning(
        `${title}: dispatcher`,
        `__main__.py never names "${name}" and imports no package by name`,
        `Let __main__.py start "${name}", as \`bat add agent\` does`,
      ),
    );
  for (const { file: source, line, level } of await findPrivacyFloors(dir)) {
    const place = `${source}:${line}`;
    if (level === "none") continue;
    findings.push(
      (level === "unknown" ? warning : problem)(
        `${title}: privacy floor`,
        `${place} sets telemetry_privacy_floor to ${level === "unknown" ? "what is not known before it runs" : `"${level}"`}`,
        'Set it to "none" for evaluations: the spans are without contents otherwise',
      ),
    );
  }
  return { findings, port };
}

async function lookAtCard(title: string, dir: string, file: string): Promise<Finding> {
  const what = `${title}: card`;
  let card: Record<string, unknown>;
  try {
    card = JSON.parse(await readFile(join(dir, "agent.json"), "utf8")) as Record<string, unknown>;
  } catch (error) {
    return problem(what, `${file} is no JSON: ${messageOf(error)}`, `Mend ${file}`);
  }
  const added = ["url", "supportedInterfaces", "supported_interfaces"].find((key) => key in card);
  if (added !== undefined)
    return problem(what, `${file} has ${added}, which the kit adds itself`, `Take ${added} out`);
  const empty = ["name", "description", "skills"].filter(
    (key) => !card[key] || (card[key] as { length?: number }).length === 0,
  );
  return empty.length === 0
    ? ok(what, `${file} says what the agent can do`)
    : warning(what, `${file} has no ${empty.join(", no ")}`, "Fill them in: other agents choose by them");
}

function lookAtModel(title: string, file: string, config: unknown, env: Env): Finding[] {
  const { model } = (config ?? {}) as { model?: { provider?: unknown; name?: unknown } };
  const provider = model?.provider;
  const what = `${title}: model`;
  if (typeof provider !== "string")
    return [
      warning(what, `${file} names no model.provider`, "bat set config --model-provider NAME --model NAME"),
    ];
  if (!(AGENT_PROVIDERS as readonly string[]).includes(provider))
    return [
      warning(
        what,
        `${file} model.provider is "${provider}", which the kit has no extra for`,
        `Check its spelling${didYouMean(provider, AGENT_PROVIDERS)}, or see that the project depends on its package`,
      ),
    ];
  const key = KEY_VARIABLES[provider];
  if (key === undefined) return [ok(what, `${provider}, which needs no key`)];
  if ((env[key] ?? "") !== "") return [ok(what, `${provider}, its key is in ${key}`)];
  return [
    warning(
      what,
      `${provider} needs a key in ${key}, which is not set`,
      `Export ${key}, or put it into .env`,
    ),
  ];
}
