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
  for (const [option, flag] of PYTHON_ONLY)
    if (options[option] !== undefined)
      throw new BatError("usage", `${flag} is for agents of --runtime python only`);
  const settings = checkAgentOptions(options);
  const folder = folderName(name);
  const dir = resolve(place.cwd, options.outputDir, folder);
  await checkTarget(dir, place, options.force);
  const project = projectName(folder);
  const description = `${project.toUpperCase()} Agent`;
  const { texts } = agentValues({ folder, classStem: classStem(name), project, description }, settings);
  const values = {
    texts: {
      ...texts,
      REPO: repositoryName(folder, "agent"),
      KEY_LINE: keyLine(settings.provider),
      PORT: String(options.port ?? 9900),
      PROVIDER: settings.provider,
      MODEL: settings.model,
    },
  };
  const plan = new FilePlan(place);
  for (const [template, file] of Object.entries(FILES))
    await plan.put(join(dir, file), await renderTemplate(`node/${template}`, values));
  await plan.putNew(join(dir, ".env"), await renderTemplate("node/dot-env", values));
  return { dir, written: await plan.write(dir), warnings: [] };
}
