import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import * as v from "valibot";
import { BatError, problemsError } from "../errors.ts";
import type { JudgeConfig } from "../judge/settings.ts";
import { check } from "../schema.ts";
import { didYouMean } from "../text/nearest.ts";
import { withoutSecrets } from "../text/url.ts";
import { readYaml } from "../text/yaml-read.ts";
import { providerNames } from "./providers.ts";

const wholeAtLeast = (least: number) => v.pipe(v.number(), v.integer(), v.minValue(least));
const seconds = v.pipe(v.number(), v.minValue(1), v.maxValue(2_000_000));
const text = v.pipe(v.string(), v.minLength(1, "Expected a text that is not empty"));
const textOrList = v.union([text, v.pipe(v.array(text), v.minLength(1))]);
const envMap = v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]));
const CREDENTIALS = "Expected a URL without user and password";
const url = v.pipe(
  text,
  v.check((value) => !hasCredentials(value), `${CREDENTIALS}; they would stand in every result`),
  v.check(
    (value) => isHttpUrl(value),
    (issue) => `Expected a URL with http or https, found ${JSON.stringify(issue.input)}`,
  ),
);

function hasCredentials(value: string): boolean {
  const parsed = URL.parse(value);
  return parsed !== null && (parsed.username !== "" || parsed.password !== "");
}

function isHttpUrl(value: string, base?: string): boolean {
  const parsed = URL.parse(value, base);
  return parsed !== null && ["http:", "https:"].includes(parsed.protocol);
}

/** A URL, or a path below the agent's own. */
const ready = v.pipe(
  text,
  v.check(
    (value) => isHttpUrl(value, "http://agent/"),
    (issue) => `Expected a path, or a URL with http or https, found ${JSON.stringify(issue.input)}`,
  ),
);

/** Without quotes YAML reads a number: `1.0` is 1 then. */
const protocolVersion = v.union([
  v.picklist(["0.3", "1.0"]),
  v.pipe(
    v.picklist([0.3, 1]),
    v.transform((number) => number.toFixed(1)),
  ),
]);

const command = v.union([
  v.pipe(
    text,
    v.check(
      (value) => commandWords(value).length > 0 && !/["']/.test(value.replace(QUOTED, "")),
      (issue) => `Expected a command with its quotes closed, found ${JSON.stringify(issue.input)}`,
    ),
  ),
  v.pipe(v.array(text), v.minLength(1)),
]);

const modelText = v.pipe(
  v.string(),
  v.check(
    (value) => /^[^:]+:.+/.test(value),
    ({ input }) => `Expected "provider:model", found ${JSON.stringify(input)}`,
  ),
  v.transform((value) => ({
    provider: value.slice(0, value.indexOf(":")),
    model: value.slice(value.indexOf(":") + 1),
  })),
);

/** Forms that name a provider, which must be one of those there are. */
function formsFor(names: readonly string[]) {
  const provider = v.pipe(
    v.string(),
    v.check(
      (name) => names.includes(name),
      ({ input }) =>
        `Unknown provider "${input}"${didYouMean(input as string, names) || `; known: ${names.join(", ")}`}`,
    ),
  );
  /** `provider:model` as the object it stands for; anything else is left for the schema to refuse. */
  const modelShort = v.pipe(modelText, v.object({ provider, model: text }));
  const modelObject = v.object({
    provider,
    model: text,
    base_url: v.optional(v.nullable(text)),
    env: v.optional(v.nullable(envMap)),
  });
  const judgeObject = v.object({
    provider,
    model: text,
    base_url: v.optional(v.nullable(text)),
    api: v.optional(v.nullable(text)),
    api_key_env: v.optional(v.nullable(text)),
    env: v.optional(v.nullable(envMap)),
    prompts: v.optional(v.nullable(v.record(v.string(), v.pipe(v.string(), v.maxLength(1000))))),
    max_trajectory_chars: v.optional(wholeAtLeast(1), 24_000),
    mode: v.optional(v.picklist(["full", "outcome"]), "full"),
    repeats: v.optional(v.pipe(wholeAtLeast(1), v.maxValue(100)), 1),
    temperature: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(2)))),
    max_output_tokens: v.optional(v.nullable(wholeAtLeast(1))),
    concurrency: v.optional(v.pipe(wholeAtLeast(1), v.maxValue(256)), 16),
    requests_per_minute: v.optional(v.nullable(wholeAtLeast(1))),
    tokens_per_minute: v.optional(v.nullable(wholeAtLeast(1))),
    timeout_s: v.optional(v.pipe(v.number(), v.minValue(0.001), v.maxValue(3_600)), 120),
  });
  return { modelShort, model: v.union([modelObject, modelShort]), judge: v.union([judgeObject, modelShort]) };
}

const evaluationSchema = v.object({
  dataset: v.optional(textOrList, "eval/input/tasks.json"),
  output_dir: v.optional(text, "eval/output"),
  agent_startup_timeout_s: v.optional(seconds, 45),
  agent_shutdown_timeout_s: v.optional(seconds, 10),
  k: v.optional(wholeAtLeast(1), 1),
  qualitative: v.optional(v.boolean(), false),
  run_name: v.optional(text, "benchmark"),
  agent_restarts: v.optional(wholeAtLeast(0), 3),
  extra_spans: v.optional(v.nullable(textOrList)),
  concurrency: v.optional(v.pipe(wholeAtLeast(1), v.maxValue(1000)), 1),
  turn_timeout_s: v.optional(v.pipe(v.number(), v.minValue(0.001), v.maxValue(2_000_000)), 180),
  attempt_timeout_s: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0.001), v.maxValue(2_000_000)))),
  retries: v.optional(wholeAtLeast(0), 0),
});

function evalFileSchema(names: readonly string[]) {
  const { model, judge } = formsFor(names);
  return v.pipe(
    v.object({
      evaluation: v.optional(v.nullable(evaluationSchema), {}),
      agent: v.optional(
        v.nullable(
          v.object({
            url: v.optional(url),
            command: v.optional(command),
            cwd: v.optional(text),
            env: v.optional(v.nullable(envMap)),
            ready: v.optional(ready),
            context_id: v.optional(v.picklist(["plain", "uuid"]), "plain"),
            protocol_version: v.optional(protocolVersion),
          }),
        ),
      ),
      plugins: v.optional(v.nullable(v.array(text))),
      budget: v.optional(
        v.nullable(
          v.object({
            max_tokens: v.optional(v.nullable(wholeAtLeast(1))),
            max_minutes: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0)))),
            max_judge_tokens: v.optional(v.nullable(wholeAtLeast(1))),
          }),
        ),
      ),
      models: v.pipe(v.array(model), v.minLength(1, "Expected at least one model, found none")),
      judge: v.optional(v.nullable(judge)),
      judges: v.optional(
        v.nullable(v.pipe(v.array(judge), v.minLength(1, "Expected at least one judge, found none"))),
      ),
    }),
    v.forward(
      v.check(
        ({ judge: one, judges: several }) => one == null || several == null,
        "Expected either judge or judges, found both",
      ),
      ["judges"],
    ),
  );
}

type ModelForm = v.InferOutput<ReturnType<typeof formsFor>["model"]>;

/** A model to evaluate the agent with. */
export interface ModelSpec {
  provider: string;
  model: string;
  baseUrl: string | null;
  /** Values may name variables, `$NAME`. */
  env: Record<string, string>;
}

/** How to reach or start an agent that is no bat project; null where the project's own way is used. */
export interface AgentSettings {
  url: string | null;
  command: string[] | null;
  cwd: string | null;
  env: Record<string, string>;
  ready: string | null;
}

/** `eval/eval.yaml`, checked and complete. Times in milliseconds, paths as written (relative to the agent's folder). */
export interface EvalConfig {
  file: string;
  datasets: string[];
  outputDir: string;
  startupTimeoutMs: number;
  shutdownTimeoutMs: number;
  k: number;
  qualitative: boolean;
  runName: string;
  agentRestarts: number;
  extraSpans: string[];
  concurrency: number;
  turnTimeoutMs: number;
  attemptTimeoutMs: number | null;
  retries: number;
  agent: AgentSettings;
  contextIds: "plain" | "uuid";
  protocolVersion: string | null;
  plugins: string[];
  budget: { maxTokens: number | null; maxMinutes: number | null; maxJudgeTokens: number | null };
  models: ModelSpec[];
  /** None without a judge; several are a panel. */
  judges: JudgeConfig[];
  /** Names of all providers there are for this project. */
  providers: string[];
}

/**
 * Reads `eval/eval.yaml` of an agent.
 *
 * @throws BatError (code `config`) with every problem of the file: line and column, what was found, what is allowed
 */
export async function loadEvalConfig(agentDir: string, cwd = agentDir): Promise<EvalConfig> {
  const path = join(agentDir, "eval", "eval.yaml");
  const short = relative(cwd, path);
  const file = short.startsWith("..") ? path : short;
  let content: string;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const why = whyUnread(error as NodeJS.ErrnoException);
    throw new BatError("config", `${file}: ${why}`, { cause: error });
  }
  return parseEvalConfig(content, file, agentDir);
}

/** The same for a text; `agentDir` is where providers of the project's own are looked for. */
export function parseEvalConfig(content: string, file: string, agentDir?: string): EvalConfig {
  const yaml = readYaml(content, file);
  const providers =
    agentDir === undefined
      ? providerNames()
      : providerNames({ projectDir: agentDir, packs: packsNamed(yaml.value) });
  const checked = check(evalFileSchema(providers), yaml.value ?? {});
  if (!checked.ok) {
    const problems = checked.problems.map((problem, i) => ({
      file,
      place: [problem.place, `(${yaml.place(checked.paths[i] ?? [])})`].filter(Boolean).join(" "),
      message: problem.message,
    }));
    throw problemsError("config", `${file} cannot be used:`, problems);
  }
  const { agent, budget, models, judge, judges, plugins } = checked.output;
  const evaluation = v.parse(evaluationSchema, checked.output.evaluation ?? {});
  return {
    file,
    datasets: list(evaluation.dataset),
    outputDir: evaluation.output_dir,
    startupTimeoutMs: evaluation.agent_startup_timeout_s * 1000,
    shutdownTimeoutMs: evaluation.agent_shutdown_timeout_s * 1000,
    k: evaluation.k,
    qualitative: evaluation.qualitative,
    runName: evaluation.run_name,
    agentRestarts: evaluation.agent_restarts,
    extraSpans: evaluation.extra_spans == null ? [] : list(evaluation.extra_spans),
    concurrency: evaluation.concurrency,
    turnTimeoutMs: evaluation.turn_timeout_s * 1000,
    attemptTimeoutMs: evaluation.attempt_timeout_s == null ? null : evaluation.attempt_timeout_s * 1000,
    retries: evaluation.retries,
    agent: {
      url: agent?.url ?? null,
      command: agent?.command === undefined ? null : commandWords(agent.command),
      cwd: agent?.cwd ?? null,
      env: texts(agent?.env),
      ready: agent?.ready ?? null,
    },
    contextIds: agent?.context_id ?? "plain",
    protocolVersion: agent?.protocol_version ?? null,
    plugins: plugins ?? [],
    budget: {
      maxTokens: budget?.max_tokens ?? null,
      maxMinutes: budget?.max_minutes ?? null,
      maxJudgeTokens: budget?.max_judge_tokens ?? null,
    },
    models: models.map(modelSpec),
    judges: (judges ?? (judge == null ? [] : [judge])) as JudgeConfig[],
    providers,
  };
}

/** Why an input file cannot be had, for its user. */
export function whyUnread(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "There is no such file; make it with `bat eval init`";
  if (error.code === "EISDIR") return "Expected a file, found a folder";
  if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "Expected text in UTF-8, found other bytes";
  return error.message;
}

/** The packs that a file names, as far as it can be read before it was checked. */
function packsNamed(value: unknown): string[] {
  const { plugins } = (value ?? {}) as { plugins?: unknown };
  return Array.isArray(plugins) ? plugins.filter((one) => typeof one === "string") : [];
}

function modelSpec(given: ModelForm): ModelSpec {
  const { provider, model } = given;
  const { base_url, env } = given as Extract<ModelForm, { env?: unknown }>;
  return { provider, model, baseUrl: base_url ?? null, env: texts(env) };
}

/** Reads `provider:model` with a provider that there is. Throws BatError (code `usage`) for anything else. */
export function parseModel(given: string, providers: readonly string[]): ModelSpec {
  const checked = check(formsFor(providers).modelShort, given);
  if (!checked.ok)
    throw new BatError("usage", `--model: ${checked.problems.map(({ message }) => message).join("; ")}`);
  return { ...checked.output, baseUrl: null, env: {} };
}

/**
 * Checks the value of a flag `--agent-url`.
 *
 * @throws BatError (code `usage`) for anything but a URL with http or https
 */
export function checkAgentUrl(given: string): void {
  if (hasCredentials(given)) throw new BatError("usage", `--agent-url: ${CREDENTIALS}`);
  if (isHttpUrl(given)) return;
  const full = `http://${given}`;
  const hint = /^[\w.-]+(:\d+)?(\/.*)?$/.test(given) && isHttpUrl(full) ? `, did you mean "${full}"?` : "";
  throw new BatError("usage", `--agent-url must be a URL with http or https, got "${given}"${hint}`);
}

const QUOTED = /"([^"]*)"|'([^']*)'/g;

/** A command given as one text, split at blanks as a shell would, quotes kept together; nothing is expanded. */
function commandWords(command: string | string[]): string[] {
  if (typeof command !== "string") return command;
  const words = command.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replace(QUOTED, (_, double?: string, single?: string) => double ?? single ?? ""),
  );
}

function list(value: string | string[]): string[] {
  return typeof value === "string" ? [value] : value;
}

function texts(env: Record<string, string | number | boolean> | null | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, String(value)]));
}

/** The configuration for showing and keeping: values of variables, which may be secrets, left out. */
export function publicConfig(config: EvalConfig): Record<string, unknown> {
  const { models, agent, judges, providers: _, ...rest } = config;
  const shown = judges.map(({ env, base_url, ...judge }) => ({
    ...judge,
    ...(base_url == null ? {} : { base_url: withoutSecrets(base_url) }),
    ...(env == null ? {} : { env: Object.keys(env) }),
  }));
  return {
    ...rest,
    agent: { ...agent, env: Object.keys(agent.env) },
    models: models.map((model) => ({
      ...model,
      baseUrl: model.baseUrl === null ? null : withoutSecrets(model.baseUrl),
      env: Object.keys(model.env),
    })),
    ...(shown.length > 1 ? { judges: shown } : { judge: shown[0] ?? null }),
  };
}
