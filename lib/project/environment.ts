import { expandEnv } from "../text/expand.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What an agent's environment is made of, the later winning over the earlier. */
export interface EnvironmentParts {
  /** The project's `.env`. */
  dotenv: Env;
  /** What the shell exports. */
  shell: Env;
  model: { provider: string; model: string; baseUrl: string | null; env: Readonly<Record<string, string>> };
  /** What the start itself needs, such as CONFIG_PATH. */
  start: Readonly<Record<string, string>>;
}

/** The environment that an agent is started with. `$VAR` in the model's own values stands for what is exported. */
export function agentEnvironment({ dotenv, shell, model, start }: EnvironmentParts): Record<string, string> {
  const inherited = { ...dotenv, ...shell };
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) if (value !== undefined) env[name] = value;
  // What npm and the test runner tell their children is not for an agent.
  delete env.NODE_TEST_CONTEXT;
  delete env.BASE_URL;
  env.PYTHONUNBUFFERED = "1";
  env.MODEL = model.model;
  env.MODEL_PROVIDER = model.provider;
  if (model.baseUrl !== null) env.BASE_URL = expandEnv(model.baseUrl, inherited);
  for (const [name, value] of Object.entries(model.env)) env[name] = expandEnv(value, inherited);
  return { ...env, ...start };
}
