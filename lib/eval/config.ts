import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import * as v from "valibot";
import { BatError, messageOf, problemsError } from "../errors.ts";
import { check } from "../schema.ts";
import { didYouMean } from "../text/nearest.ts";
import { readYaml } from "../text/yaml-read.ts";
import { providerNames } from "./providers.ts";

const wholeAtLeast = (least: number) => v.pipe(v.number(), v.integer(), v.minValue(least));
const seconds = v.pipe(v.number(), v.minValue(1), v.maxValue(2_000_000));
const text = v.pipe(v.string(), v.minLength(1, "Expected a text that is not empty"));
const textOrList = v.union([text, v.pipe(v.array(text), v.minLength(1))]);
const envMap = v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]));
const url = v.pipe(
  text,
  v.check(isHttpUrl, (issue) => `Expected a URL with http or https, found ${JSON.stringify(issue.input)}`),
);

function isHttpUrl(value: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(value).protocol);
  } catch {
    return false;
  }
}

const provider = v.pipe(
  v.string(),
  v.check(
    (name) => providerNames().includes(name),
    ({ input }) =>
      `Unknown provider "${input}"${didYouMean(input as string, providerNames()) || `; known: ${providerNames().join(", ")}`}`,
  ),
);

/** `provider:model` as the object it stands for; anything else is left for the schema to refuse. */
const modelShort = v.pipe(
  v.string(),
  v.check(
    (value) => /^[^:]+:.+/.test(value),
    ({ input }) => `Expected "provider:model", found ${JSON.stringify(input)}`,
  ),
  v.transform((value) => ({
    provider: value.slice(0, value.indexOf(":")),
    model: value.slice(value.indexOf(":") + 1),
  })),
  v.object({ provider, model: text }),
);
const modelObject = v.object({
  provider,
  model: text,
  base_url: v.optional(v.nullable(text)),
  env: v.optional(v.nullable(envMap)),
});
const model = v.union([modelObject, modelShort]);

const judgeObject = v.object({
  provider,
  model: text,
  base_url: v.optional(v.nullable(text)),
  api_key_env: v.optional(v.nullable(text)),
  env: v.optional(v.nullable(envMap)),
  prompts: v.optional(v.nullable(v.record(v.string(), v.pipe(v.string(), v.maxLength(1000))))),
  max_trajectory_chars: v.optional(wholeAtLeast(1), 24_000),
  mode: v.optional(v.picklist(["full", "outcome"]), "full"),
  concurrency: v.optional(v.pipe(wholeAtLeast(1), v.maxValue(256)), 16),
  timeout_s: v.optional(v.pipe(v.number(), v.minValue(0.001), v.maxValue(3_600)), 120),
});

const EvalFileSchema = v.object({
  evaluation: v.optional(
    v.nullable(
      v.object({
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
        attempt_timeout_s: v.optional(
          v.nullable(v.pipe(v.number(), v.minValue(0.001), v.maxValue(2_000_000))),
        ),
        retries: v.optional(wholeAtLeast(0), 0),
      }),
    ),
    {},
  ),
  agent: v.optional(
    v.nullable(
      v.object({
        url: v.optional(url),
        command: v.optional(textOrList),
        cwd: v.optional(text),
        env: v.optional(v.nullable(envMap)),
        ready: v.optional(text),
        context_id: v.optional(v.picklist(["plain", "uuid"]), "plain"),
        protocol_version: v.optional(v.picklist(["0.3", "1.0"])),
      }),
    ),
  ),
  plugins: v.optional(v.nullable(v.array(text))),
  budget: v.optional(
    v.nullable(
      v.object({
        max_tokens: v.optional(v.nullable(wholeAtLeast(1))),
        max_minutes: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0)))),
      }),
    ),
  ),
  models: v.pipe(v.array(model), v.minLength(1, "Expected at least one model, found none")),
  judge: v.optional(v.nullable(v.union([judgeObject, modelShort]))),
});

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
  budget: { maxTokens: number | null; maxMinutes: number | null };
  models: ModelSpec[];
  judge: Record<string, unknown> | null;
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
    content = await readFile(path, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = missing ? "There is no such file; make it with `bat eval init`" : messageOf(error);
    throw new BatError("config", `${file}: ${why}`, { cause: error });
  }
  return parseEvalConfig(content, file);
}

/** The same for a text. */
export function parseEvalConfig(content: string, file: string): EvalConfig {
  const yaml = readYaml(content, file);
  const checked = check(EvalFileSchema, yaml.value ?? {});
  if (!checked.ok) {
    const problems = checked.problems.map((problem, i) => ({
      file,
      place: [problem.place, `(${yaml.place(checked.paths[i] ?? [])})`].filter(Boolean).join(" "),
      message: problem.message,
    }));
    throw problemsError("config", `${file} cannot be used:`, problems);
  }
  const { agent, budget, models, judge, plugins } = checked.output;
  const evaluation = v.parse(
    v.nonNullish(EvalFileSchema.entries.evaluation.wrapped),
    checked.output.evaluation ?? {},
  );
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
    budget: { maxTokens: budget?.max_tokens ?? null, maxMinutes: budget?.max_minutes ?? null },
    models: models.map(modelSpec),
    judge: judge ?? null,
  };
}

function modelSpec(given: v.InferOutput<typeof model>): ModelSpec {
  const { provider, model } = given;
  const { base_url, env } = given as v.InferOutput<typeof modelObject>;
  return { provider, model, baseUrl: base_url ?? null, env: texts(env) };
}

/** Reads `provider:model`. Throws BatError (code `usage`) for anything else. */
export function parseModel(given: string): ModelSpec {
  const checked = check(modelShort, given);
  if (!checked.ok)
    throw new BatError("usage", `--model: ${checked.problems.map(({ message }) => message).join("; ")}`);
  return { ...checked.output, baseUrl: null, env: {} };
}

/** A command given as one text, split at blanks as a shell would, quotes kept together; nothing is expanded. */
function commandWords(command: string | string[]): string[] {
  if (typeof command !== "string") return command;
  const words = command.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
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
  const { models, agent, judge, ...rest } = config;
  const judgeEnv = judge?.env as Record<string, unknown> | null | undefined;
  return {
    ...rest,
    agent: { ...agent, env: Object.keys(agent.env) },
    models: models.map((model) => ({ ...model, env: Object.keys(model.env) })),
    judge: judge === null ? null : { ...judge, ...(judgeEnv == null ? {} : { env: Object.keys(judgeEnv) }) },
  };
}
