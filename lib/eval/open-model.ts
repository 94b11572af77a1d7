import { mkdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { type AgentSpec, startAgent } from "../agent/agent.ts";
import { freePort } from "../agent/port.ts";
import { BatError } from "../errors.ts";
import { agentUrl } from "../project/agent-url.ts";
import { configWithTelemetry } from "../project/config-copy.ts";
import { readDotenv } from "../project/dotenv.ts";
import { agentEnvironment } from "../project/environment.ts";
import { writeFileAtomic } from "../store/atomic.ts";
import type { RunFolder } from "../store/run-folder.ts";
import { expandEnv } from "../text/expand.ts";
import { SpanIndex } from "../trace/span-index.ts";
import { type AgentHost, connectedHost, processHost } from "./agent-host.ts";
import type { Fact, NewFact, RunState } from "./facts.ts";
import type { RunObserver } from "./observer.ts";
import type { RunPlan } from "./plan.ts";
import type { PreparedRun } from "./prepare.ts";
import type { OpenModel } from "./run.ts";

/** What the opening of a model's agent needs of the run. */
export interface OpenInput {
  prepared: PreparedRun;
  folder: RunFolder<RunPlan, Fact>;
  state: RunState;
  observer: RunObserver;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

type Launch = Pick<AgentSpec, "command" | "cwd" | "env" | "url">;

/**
 * Starts, or connects to, the agent of a model.
 *
 * @param count how often that was done before in this run: each time has a span file of its own, so that what an earlier
 *   process left is not read again
 */
export async function openModel(input: OpenInput, model: number, count: number): Promise<OpenModel> {
  const { prepared, folder } = input;
  const { target, conventions } = prepared;
  const extra = target.config.extraSpans.map((path) => resolve(target.dir, path));
  if (target.kind === "url") {
    const url = target.config.agent.url!.replace(/\/+$/, "");
    const spans = new SpanIndex(extra, conventions, { onlyNew: true });
    return opened(await connectedHost(() => connect(input, url)), url, spans);
  }
  const spansDir = folder.path(`spans-${model}`);
  await mkdir(spansDir, { recursive: true });
  const spansFile = join(spansDir, count === 0 ? "agent.jsonl" : `agent-${count + 1}.jsonl`);
  const launch =
    target.kind === "project"
      ? await kitLaunch(input, model, spansFile)
      : await commandLaunch(input, model, spansFile);
  const spans = new SpanIndex([spansFile, ...extra], conventions, { onlyNew: true });
  return opened(await hostOf(input, model, launch), launch.url, spans);
}

function opened(host: AgentHost, url: string, spans: SpanIndex): OpenModel {
  return {
    host,
    url,
    spans,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      spans.close();
    },
  };
}

/** Connects to an agent. One that takes the connection and says nothing is not waited for without end. */
async function connect({ prepared, signal }: OpenInput, url: string) {
  const { protocolVersion, startupTimeoutMs } = prepared.target.config;
  const target = { url, ...(protocolVersion === null ? {} : { protocolVersion }) };
  const limit = AbortSignal.timeout(startupTimeoutMs);
  try {
    return await prepared.protocol.connect(target, { signal: AbortSignal.any([signal, limit]) });
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    const within = `${startupTimeoutMs / 1000} s (evaluation.agent_startup_timeout_s)`;
    throw new BatError("agent", `${url} did not answer with its agent card within ${within}`, {
      cause: error,
    });
  }
}

function hostOf(input: OpenInput, model: number, launch: Launch): Promise<AgentHost> {
  const { prepared, folder, state, observer, signal } = input;
  const { config, title } = prepared.target;
  const { ready } = config.agent;
  const spec: AgentSpec = {
    ...launch,
    name: title,
    logFile: folder.path(`agent-${model}.log`),
    startupTimeoutMs: config.startupTimeoutMs,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
    token: folder.plan.token,
    signal,
    ...(ready === null ? {} : { ready: new URL(ready, `${launch.url}/`).href }),
  };
  return processHost({
    start: () => startAgent(spec),
    connect: (url) => connect(input, url),
    restarts: config.agentRestarts,
    signal,
    async onRestart(exit, restarts) {
      const fact: NewFact = { fact: "agent-restarted", model, exit };
      state.apply(fact);
      await folder.record(fact);
      observer.agentRestarted({
        model: folder.plan.models[model]!.name,
        exit,
        restarts,
        limit: config.agentRestarts,
      });
    },
  });
}

/** An agent made with the kit: a copy of its configuration sends its spans to the run's folder. */
async function kitLaunch(
  { prepared, folder, env }: OpenInput,
  model: number,
  spansFile: string,
): Promise<Launch> {
  const project = prepared.target.project!;
  const copy = folder.path(`config-${model}.yaml`);
  const name = relative(project.root, project.configPath);
  const text = await readFile(project.configPath, "utf8");
  await writeFileAtomic(copy, configWithTelemetry(text, name, spansFile));
  const environment = agentEnvironment({
    dotenv: await readDotenv(join(project.root, ".env"), env),
    shell: env,
    model: prepared.models[model]!,
    start: { ...project.env, CONFIG_PATH: copy },
  });
  return {
    command: project.command,
    cwd: project.root,
    env: environment,
    url: agentUrl(text, name, environment),
  };
}

const DEFAULT_URL = "http://localhost:9900";

/** An agent that starts with a command of its own. A URL with port 0 asks for a free one. */
async function commandLaunch(
  { prepared, env }: OpenInput,
  model: number,
  spansFile: string,
): Promise<Launch> {
  const { dir, config } = prepared.target;
  const { agent } = config;
  const url = new URL(agent.url ?? DEFAULT_URL);
  if (url.port === "0") url.port = String(await freePort());
  const dotenv = await readDotenv(join(dir, ".env"), env);
  const environment = agentEnvironment({
    dotenv,
    shell: env,
    model: prepared.models[model]!,
    start: { BAT_SPANS_FILE: spansFile, PORT: url.port },
  });
  for (const [name, value] of Object.entries(agent.env)) environment[name] = expandEnv(value, environment);
  return {
    command: (agent.command ?? []).map((word) => word.replaceAll("{port}", url.port)),
    cwd: resolve(dir, agent.cwd ?? "."),
    env: environment,
    url: `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`,
  };
}
