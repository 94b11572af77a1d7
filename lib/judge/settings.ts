import { BatError } from "../errors.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { expandEnv } from "../text/expand.ts";
import { didYouMean } from "../text/nearest.ts";
import { Judge } from "./ask.ts";
import { Pace } from "./pace.ts";
import { loadRubrics, type Rubric } from "./rubric.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `judge` of eval.yaml, as it was checked. */
export interface JudgeConfig {
  provider: string;
  model: string;
  base_url?: string | null;
  api_key_env?: string | null;
  env?: Record<string, string | number | boolean> | null;
  prompts?: Record<string, string> | null;
  max_trajectory_chars?: number;
  mode?: "full" | "outcome";
  /** Calls at once. */
  concurrency?: number;
  timeout_s?: number;
}

/** A judge that is ready to be asked. */
export interface ReadyJudge {
  judge: Judge;
  rubrics: Rubric[];
  mode: "full" | "outcome";
  maxTrajectoryChars: number;
  prompts: Readonly<Record<string, string>>;
  /** Provider, model and address: what an answer depends on beside its prompt. */
  identity: readonly string[];
}

const AT_ONCE = 16;
const TIMEOUT_S = 120;

/**
 * Makes the judge that a configuration asks for. What is missing, a key above all, is told before anything is started.
 *
 * @throws BatError (code `config` or `plugin`)
 */
export async function readyJudge(
  config: JudgeConfig,
  place: { dir: string; packs: readonly string[]; env: Env; signal: AbortSignal },
): Promise<ReadyJudge> {
  const { dir, packs, env, signal } = place;
  const mode = config.mode ?? "full";
  const rubrics = await loadRubrics(mode, dir);
  const prompts = config.prompts ?? {};
  for (const name of Object.keys(prompts)) {
    const names = rubrics.map((rubric) => rubric.name);
    if (!names.includes(name)) {
      throw new BatError(
        "config",
        `judge.prompts: Unknown rubric "${name}"${didYouMean(name, names) || `; there are ${names.join(", ")}`}`,
      );
    }
  }
  const providers = await loadPlugins("providers", pluginSources({ projectDir: dir, packs }));
  const provider = providers.find(({ id }) => id === config.provider);
  if (provider === undefined) {
    const ids = providers.map(({ id }) => id);
    throw new BatError(
      "config",
      `judge.provider: Unknown provider "${config.provider}"${didYouMean(config.provider, ids) || `; there are ${ids.join(", ")}`}`,
    );
  }
  const own = Object.fromEntries(
    Object.entries(config.env ?? {}).map(([name, value]) => [name, expandEnv(String(value), env)]),
  );
  const variable = config.api_key_env ?? provider.definition.keyVariable;
  const apiKey = variable === null ? null : (own[variable] ?? env[variable] ?? null);
  if (variable !== null && (apiKey === null || apiKey === "")) {
    throw new BatError(
      "config",
      `The judge ${config.provider}:${config.model} needs a key in the variable ${variable}: export it, put it into the project's .env, or name another with judge.api_key_env`,
    );
  }
  const baseUrl = config.base_url == null ? null : expandEnv(config.base_url, env);
  const model = await provider.definition.model({ model: config.model, baseUrl, apiKey });
  const secrets = apiKey === null ? [] : [apiKey];
  const pace = new Pace(config.concurrency ?? AT_ONCE, signal);
  const judge = new Judge({
    model,
    pace,
    timeoutMs: (config.timeout_s ?? TIMEOUT_S) * 1000,
    signal,
    secrets,
  });
  return {
    judge,
    rubrics,
    mode,
    maxTrajectoryChars: config.max_trajectory_chars ?? 24_000,
    prompts,
    identity: [config.provider, config.model, baseUrl ?? ""],
  };
}
