import { BatError } from "../errors.ts";
import type { ProviderPlugin } from "../plugin/define.ts";
import { type Loaded, loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { expandEnv } from "../text/expand.ts";
import { didYouMean } from "../text/nearest.ts";
import { withoutSecrets } from "../text/url.ts";
import { Judge } from "./ask.ts";
import { limitedFetch } from "./limited-fetch.ts";
import { loadPackage } from "./load-package.ts";
import { Pace } from "./pace.ts";
import { loadPrices, type Prices } from "./prices.ts";
import { Redactor, secretsInUrl } from "./redact.ts";
import { loadRubrics, type Rubric } from "./rubric.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A judge of eval.yaml, as it was checked. */
export interface JudgeConfig {
  provider: string;
  model: string;
  base_url?: string | null;
  /** Which of a provider's APIs to use. */
  api?: string | null;
  api_key_env?: string | null;
  env?: Record<string, string | number | boolean> | null;
  prompts?: Record<string, string> | null;
  max_trajectory_chars?: number;
  mode?: "full" | "outcome";
  /** How often each rubric is asked for each episode. */
  repeats?: number;
  temperature?: number | null;
  max_output_tokens?: number | null;
  /** Calls at once. */
  concurrency?: number;
  requests_per_minute?: number | null;
  tokens_per_minute?: number | null;
  timeout_s?: number;
}

/** One judge that is ready to be asked. */
export interface ReadyJudge {
  /** `provider:model`, with a number where a panel has it more than once. */
  name: string;
  judge: Judge;
  repeats: number;
  maxTrajectoryChars: number;
  prompts: Readonly<Record<string, string>>;
  /** Provider, model, address, API and sampling: what an answer depends on beside its prompt. No secret is in it. */
  identity: readonly string[];
  /** `provider:model`, as prices are known by. */
  priced: string;
}

/** All judges of a run, one or several, and what they judge by. */
export interface Panel {
  judges: ReadyJudge[];
  rubrics: Rubric[];
  mode: "full" | "outcome";
  prices: Prices;
  /** Calls that may be open at once, over all judges. */
  atOnce: number;
}

/** Where judges, rubrics and keys are looked up. */
export interface JudgePlace {
  dir: string;
  packs: readonly string[];
  env: Env;
  signal: AbortSignal;
}

const AT_ONCE = 16;
const TIMEOUT_S = 120;
const TRAJECTORY_CHARS = 24_000;

/**
 * Makes the judges that a configuration asks for. What is missing, a key above all, is told before anything is started.
 *
 * @throws BatError (code `config` or `plugin`)
 */
export async function readyPanel(configs: readonly JudgeConfig[], place: JudgePlace): Promise<Panel> {
  const { dir, packs } = place;
  const mode = configs[0]?.mode ?? "full";
  const other = configs.find((config) => (config.mode ?? "full") !== mode);
  if (other !== undefined) {
    throw new BatError(
      "config",
      `judges: All judges of a panel need the same mode, found "${mode}" and "${other.mode ?? "full"}"`,
    );
  }
  const sources = pluginSources({ projectDir: dir, packs });
  const [rubrics, providers, prices] = await Promise.all([
    loadRubrics(mode, sources),
    loadPlugins("providers", sources),
    loadPrices(dir),
  ]);
  const judges: ReadyJudge[] = [];
  for (const [i, config] of configs.entries()) {
    checkPrompts(config, rubrics);
    const priced = `${config.provider}:${config.model}`;
    const before = configs.slice(0, i).filter((one) => `${one.provider}:${one.model}` === priced).length;
    const name = before === 0 ? priced : `${priced} #${before + 1}`;
    judges.push({ ...(await readyJudge(config, providers, place)), name, priced });
  }
  const atOnce = configs.reduce((sum, config) => sum + (config.concurrency ?? AT_ONCE), 0);
  return { judges, rubrics, mode, prices, atOnce };
}

function checkPrompts({ prompts }: JudgeConfig, rubrics: readonly Rubric[]): void {
  const names = rubrics.map((rubric) => rubric.name);
  for (const name of Object.keys(prompts ?? {})) {
    if (names.includes(name)) continue;
    throw new BatError(
      "config",
      `judge.prompts: Unknown rubric "${name}"${didYouMean(name, names) || `; there are ${names.join(", ")}`}`,
    );
  }
}

async function readyJudge(
  config: JudgeConfig,
  providers: readonly Loaded<ProviderPlugin>[],
  { dir, env, signal }: JudgePlace,
): Promise<Omit<ReadyJudge, "name" | "priced">> {
  const provider = providers.find(({ id }) => id === config.provider);
  if (provider === undefined) {
    const ids = providers.map(({ id }) => id);
    throw new BatError(
      "config",
      `judge.provider: Unknown provider "${config.provider}"${didYouMean(config.provider, ids) || `; there are ${ids.join(", ")}`}`,
    );
  }
  const { definition } = provider;
  const own = Object.fromEntries(
    Object.entries(config.env ?? {}).map(([name, value]) => [name, expandEnv(String(value), env)]),
  );
  const lookUp = (name: string): string | undefined => own[name] ?? env[name];
  const keyName = config.api_key_env ?? definition.keyVariable;
  const apiKey = keyName === null ? null : (lookUp(keyName) ?? null);
  if (keyName !== null && (apiKey === null || apiKey === "")) {
    throw new BatError(
      "config",
      `The judge ${config.provider}:${config.model} needs a key in the variable ${keyName}: export it, put it into the project's .env, or name another with judge.api_key_env`,
    );
  }
  const baseUrl = config.base_url == null ? null : expandEnv(config.base_url, env);
  if (baseUrl !== null && !/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : "")) {
    throw new BatError(
      "config",
      `judge.base_url: Expected a URL with http or https, found "${withoutSecrets(config.base_url ?? "")}"${config.base_url === baseUrl ? "" : ", which names a variable that holds none"}`,
    );
  }
  const api = apiOf(config, definition);
  const secretNames = [...Object.keys(own), ...(definition.secretVariables ?? [])];
  const redactor = new Redactor([apiKey, ...secretNames.map(lookUp), ...secretsInUrl(baseUrl)]);
  const load = (name: string) => loadPackage(name, dir);
  const timeoutMs = (config.timeout_s ?? TIMEOUT_S) * 1000;
  const pace = new Pace(
    {
      atOnce: config.concurrency ?? AT_ONCE,
      requestsPerMinute: config.requests_per_minute,
      tokensPerMinute: config.tokens_per_minute,
    },
    signal,
  );
  let limitsItself = false;
  const model = await definition.model({
    model: config.model,
    baseUrl,
    apiKey,
    api,
    variable: lookUp,
    load,
    get fetch() {
      limitsItself = true;
      return limitedFetch(pace, timeoutMs, signal);
    },
  });
  const sampling = {
    temperature: config.temperature ?? undefined,
    maxOutputTokens: config.max_output_tokens ?? undefined,
  };
  return {
    judge: new Judge({
      model,
      pace,
      timeoutMs,
      limitsItself,
      sampling,
      signal,
      redactor,
    }),
    repeats: config.repeats ?? 1,
    maxTrajectoryChars: config.max_trajectory_chars ?? TRAJECTORY_CHARS,
    prompts: config.prompts ?? {},
    identity: [
      config.provider,
      config.model,
      redactor.errors(withoutSecrets(baseUrl)),
      api ?? "",
      JSON.stringify(sampling),
    ],
  };
}

function apiOf({ api, provider }: JudgeConfig, { apis = [] }: ProviderPlugin): string | null {
  if (api == null) return null;
  if (apis.includes(api)) return api;
  const allowed = apis.length === 0 ? "this provider has but one" : `there are ${apis.join(", ")}`;
  throw new BatError("config", `judge.api: Unknown API "${api}" of ${provider}; ${allowed}`);
}
