import { join, resolve } from "node:path";
import { BatError } from "../errors.ts";
import { type AgentOptions, agentValues, checkAgentOptions, keyLine } from "./agent-values.ts";
import { checkTarget } from "./init-agent.ts";
import { classStem, folderName, projectName, repositoryName } from "./names.ts";
import { FilePlan, type Scaffolded, type ScaffoldPlace } from "./plan.ts";
import { renderTemplate } from "./render.ts";

/** Template → file in the project. */
const FILES: Readonly<Record<string, string>> = {
  "dot-dockerignore": ".dockerignore",
  "dot-gitignore": ".gitignore",
  Dockerfile: "Dockerfile",
  Makefile: "Makefile",
  "README.md": "README.md",
  "agent.json": "agent.json",
  "eval/eval.yaml": "eval/eval.yaml",
  "eval/input/tasks.json": "eval/input/tasks.json",
  "package.json": "package.json",
  "src/agent.ts": "src/agent.ts",
  "src/main.ts": "src/main.ts",
  "src/settings.ts": "src/settings.ts",
  "src/telemetry.ts": "src/telemetry.ts",
  "test/agent.test.ts": "test/agent.test.ts",
  "tsconfig.json": "tsconfig.json",
};

/** Flags that only Python agents know. */
const PYTHON_ONLY = [
  ["clients", "--clients"],
  ["template", "--template"],
  ["reasoningEffort", "--reasoning-effort"],
  ["serviceTier", "--service-tier"],
] as const;

/**
 * Makes an agent in TypeScript in a folder of its own: the A2A SDK for JavaScript, the AI SDK, spans of the GenAI
 * conventions, and an evaluation that knows how to start it.
 *
 * @throws BatError (code `usage`) as `initAgent` does, and for flags that only Python agents know
 */
export async function initNodeAgent(
  place: ScaffoldPlace,
  name: string,
  options: AgentOptions & { outputDir: string; force: boolean },
): Promise<Scaffolded> {
  const folder = folderName(name);
  const dir = resolve(place.cwd, options.outputDir, folder);
  const plan = new FilePlan(place);
  checkNodeOptions(options);
  await checkTarget(dir, place, options.force);
  await planNodeAgent(plan, { dir, folder, name, port: options.port ?? 9900 }, options);
  return { dir, written: await plan.write(dir), warnings: [] };
}

/** Throws BatError (code `usage`) for flags that only Python agents know. */
export function checkNodeOptions(options: AgentOptions): void {
  for (const [option, flag] of PYTHON_ONLY)
    if (options[option] !== undefined)
      throw new BatError("usage", `${flag} is for agents of --runtime python only`);
}

/** Plans the files of such an agent. */
export async function planNodeAgent(
  plan: FilePlan,
  { dir, folder, name, port }: { dir: string; folder: string; name: string; port: number },
  options: AgentOptions,
): Promise<void> {
  const settings = checkAgentOptions(options);
  const project = projectName(folder);
  const description = `${project.toUpperCase()} Agent`;
  const { texts } = agentValues({ folder, classStem: classStem(name), project, description }, settings);
  const values = {
    texts: {
      ...texts,
      REPO: repositoryName(folder, "agent"),
      KEY_LINE: keyLine(settings.provider),
      PORT: String(port),
      PROVIDER: settings.provider,
      MODEL: settings.model,
    },
  };
  for (const [template, file] of Object.entries(FILES))
    await plan.put(join(dir, file), await renderTemplate(`node/${template}`, values));
  await plan.putNew(join(dir, ".env"), await renderTemplate("node/dot-env", values));
}
