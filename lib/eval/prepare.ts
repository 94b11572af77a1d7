import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { BatError } from "../errors.ts";
import type { Calibration } from "../judge/calibration.ts";
import type { Panel } from "../judge/settings.ts";
import { packageVersion } from "../package.ts";
import type { CheckPlugin, ProtocolPlugin } from "../plugin/define.ts";
import { type Loaded, loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { canDispatch } from "../project/dispatcher.ts";
import { readDotenv } from "../project/dotenv.ts";
import { findPrivacyFloors } from "../project/privacy-floor.ts";
import { type SourceDigest, sourceDigest } from "../store/source-digest.ts";
import { didYouMean } from "../text/nearest.ts";
import { withoutSecrets } from "../text/url.ts";
import type { NamedConvention } from "../trace/record.ts";
import { type EvalConfig, type ModelSpec, parseModel } from "./config.ts";
import { modelFolders, plannedTasks, type RunPlan, type RunRequest } from "./plan.ts";
import { type EvalTarget, findTarget } from "./target.ts";
import { loadTasks, type TaskSpec } from "./tasks.ts";

/** Everything a run is made of, read and checked; nothing has been started or written yet. */
export interface PreparedRun {
  target: EvalTarget;
  request: RunRequest;
  models: ModelSpec[];
  tasks: TaskSpec[];
  k: number;
  checks: Loaded<CheckPlugin>[];
  protocol: ProtocolPlugin;
  conventions: NamedConvention[];
  /** Null without a judge. */
  panel: Panel | null;
  /** Null without a judge or a calibration of it. */
  calibration: Calibration | null;
  source: SourceDigest;
  warnings: string[];
  /** Absolute. */
  outputDir: string;
}

/** What the command line asks for; what is not given is null or empty. */
export interface PrepareInput {
  cwd: string;
  agent?: string | undefined;
  request: RunRequest;
  outputDir?: string | undefined;
  /** Absolute path of a report that the run will write: no source, wherever that is. */
  report?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** Reads and checks all that a run needs. Throws BatError (code `config`, `usage` or `plugin`) for what is wrong. */
export async function prepareRun({
  cwd,
  agent,
  request,
  outputDir,
  report,
  env,
  signal,
}: PrepareInput): Promise<PreparedRun> {
  const target = await findTarget({ cwd, agent, agentUrl: request.agentUrl ?? undefined });
  const { config, dir } = target;
  const warnings = await projectWarnings(target);
  const sources = pluginSources({ projectDir: dir, packs: config.plugins });
  const [checks, protocols, conventions] = await Promise.all([
    loadPlugins("checks", sources),
    loadPlugins("protocols", sources),
    loadPlugins("conventions", sources),
  ]);
  const all = await loadTasks(config.datasets, checks, dir);
  const tasks = shardOf(selectTasks(all, request.tasks), request.shard);
  const models = selectModels(config, request.models);
  const protocol = protocols.find(({ id }) => id === "a2a")!.definition;
  const output = resolve(outputDir === undefined ? dir : cwd, outputDir ?? config.outputDir);
  if (target.kind === "url" && models.length > 1) {
    warnings.push("agent.url names one running agent: every model of the list is only a label for it");
  }
  const panel = await panelOf(target, request.qualitative ?? config.qualitative, { env, signal });
  const calibration =
    panel === null ? null : await (await import("../judge/calibration.ts")).loadCalibration(dir);
  await requireFolder(target);
  const source: SourceDigest =
    target.kind === "url"
      ? { digest: null, reason: "the agent was running already" }
      : await sourceDigest(sourceRoot(target), report === undefined ? [output] : [output, report]);
  const k = request.k ?? config.k;
  return {
    target,
    request,
    models,
    tasks,
    k,
    checks,
    protocol,
    conventions,
    panel,
    calibration,
    source,
    warnings,
    outputDir: output,
  };
}

/** The judges, ready to be asked; what they lack is told before anything is started. */
async function panelOf(
  { project, dir, config }: EvalTarget,
  wanted: boolean,
  { env, signal }: Pick<PrepareInput, "env" | "signal">,
): Promise<Panel | null> {
  if (!wanted) return null;
  if (config.judges.length === 0) {
    throw new BatError(
      "config",
      `${config.file}: A qualitative evaluation needs a judge: {provider, model}, or "provider:model"`,
    );
  }
  const { readyPanel } = await import("../judge/settings.ts");
  const dotenv = await readDotenv(join(project?.root ?? dir, ".env"), env);
  const place = { dir, packs: config.plugins, env: { ...dotenv, ...env }, signal };
  return await readyPanel(config.judges, place);
}

async function requireFolder({ kind, dir, config }: EvalTarget): Promise<void> {
  const { cwd } = config.agent;
  if (kind !== "command" || cwd === null) return;
  const folder = resolve(dir, cwd);
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return;
  throw new BatError("config", `${config.file} agent.cwd: There is no folder "${folder}"`);
}

function sourceRoot({ project, dir, config }: EvalTarget): string {
  return project?.root ?? resolve(dir, config.agent.cwd ?? ".");
}

/** Refuses an agent whose spans would say nothing, and warns of what may go wrong. */
async function projectWarnings({ project }: EvalTarget): Promise<string[]> {
  if (project === null) return [];
  const warnings: string[] = [];
  if (project.name !== null && !(await canDispatch(project.root, project.name))) {
    warnings.push(
      `__main__.py never names "${project.name}" and imports no package by name: it may not be able to start it`,
    );
  }
  for (const { file, line, level } of await findPrivacyFloors(project.dir)) {
    const place = `${join(relative(project.root, project.dir), file)}:${line}`;
    if (level === "unknown")
      warnings.push(
        `${place}: telemetry_privacy_floor is not known before the agent runs; above "none" its spans cannot be read`,
      );
    else if (level !== "none") {
      throw new BatError(
        "config",
        `${place}: telemetry_privacy_floor is "${level}": the agent would leave the contents out of its spans. Set it to "none" for the evaluation`,
      );
    }
  }
  return warnings;
}

function selectTasks(tasks: readonly TaskSpec[], patterns: readonly string[]): TaskSpec[] {
  if (patterns.length === 0) return [...tasks];
  const wanted = patterns.map((pattern) => {
    const fits = patternTest(pattern);
    if (!tasks.some(({ id }) => fits(id))) {
      const ids = tasks.map(({ id }) => id);
      throw new BatError(
        "usage",
        `--task: No task is called "${pattern}"${didYouMean(pattern, ids) || `; there are ${ids.slice(0, 20).join(", ")}`}`,
      );
    }
    return fits;
  });
  return tasks.filter(({ id }) => wanted.some((fits) => fits(id)));
}

function patternTest(pattern: string): (id: string) => boolean {
  const source = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const expression = new RegExp(`^${source.join(".*")}$`, "s");
  return (id) => expression.test(id);
}

/** Every N-th task, all its attempts together, so that the statistics of a task stay whole. */
function shardOf(tasks: TaskSpec[], shard: string | null): TaskSpec[] {
  if (shard === null) return tasks;
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(shard) ?? [];
  const [i, n] = [Number(index), Number(count)];
  if (index === undefined || n < 1 || i < 1 || i > n) {
    throw new BatError("usage", `--shard must be I/N with I from 1 to N, got "${shard}"`);
  }
  const own = tasks.filter((_, position) => position % n === i - 1);
  if (own.length === 0)
    throw new BatError("usage", `--shard ${shard} has no task: there are ${tasks.length}`);
  return own;
}

/** Models of the command line: those of the file by that name, else new ones. */
function selectModels({ models, providers }: EvalConfig, wanted: readonly string[]): ModelSpec[] {
  if (wanted.length === 0) return [...models];
  return wanted.map(
    (name) => models.find((model) => modelName(model) === name) ?? parseModel(name, providers),
  );
}

/** `provider:model`. */
export function modelName({ provider, model }: Pick<ModelSpec, "provider" | "model">): string {
  return `${provider}:${model}`;
}

/** The plan of a prepared run. */
export function planRun(prepared: PreparedRun, id: string, directory: string, at: Date): RunPlan {
  const { target, models, tasks, k, request, source } = prepared;
  const { config } = target;
  const runName = request.runName ?? config.runName;
  const folders = modelFolders(runName, models);
  const { url, command, cwd, ready, env } = config.agent;
  return {
    schema: "bat.run.v1",
    id,
    token: randomBytes(16).toString("hex"),
    created_at: at.toISOString(),
    versions: { bat: packageVersion(), node: process.versions.node, platform: process.platform },
    agent: {
      title: target.title,
      name: target.project?.name ?? null,
      kind: target.kind,
      directory: relative(directory, target.dir),
    },
    request,
    settings: { k, run_name: runName },
    models: models.map((model, i) => ({
      name: modelName(model),
      provider: model.provider,
      model: model.model,
      folder: folders[i]!,
    })),
    tasks: plannedTasks(tasks),
    planned: models.length * tasks.length * k,
    configuration: {
      k,
      run_name: runName,
      models: models.map((model) => ({
        name: modelName(model),
        base_url: model.baseUrl === null ? null : withoutSecrets(model.baseUrl),
        env: Object.keys(model.env),
      })),
      agent: { kind: target.kind, url, command, cwd, ready, env: Object.keys(env) },
      context_id: config.contextIds,
      protocol_version: config.protocolVersion,
      extra_spans: config.extraSpans,
      checks: prepared.checks.map((check) => check.id),
      judge:
        prepared.panel === null
          ? null
          : {
              models: prepared.panel.judges.map(({ identity, repeats }) => ({ identity, repeats })),
              mode: prepared.panel.mode,
              rubrics: prepared.panel.rubrics.map(({ digest }) => digest),
            },
    },
    source: source.digest === null ? { digest: null, reason: source.reason } : { digest: source.digest },
  };
}

/** The digests of the source's files as a run keeps them, for naming what has changed; null where it has none. */
export async function readSourceFiles(directory: string): Promise<Record<string, string> | null> {
  const text = await readFile(join(directory, "source.json"), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Record<string, string>);
}
