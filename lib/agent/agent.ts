import { type ChildProcessByStdio, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { BatError } from "../errors.ts";
import { endCarriers, TOKEN_VARIABLE } from "./carriers.ts";
import { isListening, listenerOf } from "./port.ts";
import type { WatchdogOrder, WatchdogReport } from "./watchdog.ts";

export interface AgentSpec {
  /** For messages. */
  name: string;
  command: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Takes stdout and stderr, appended. */
  logFile: string;
  /** Where it will answer, no trailing slash. */
  url: string;
  /** Absolute URL that must answer 2xx before the agent counts as ready; by default its card. */
  ready?: string;
  startupTimeoutMs: number;
  shutdownTimeoutMs: number;
  /** Marks every process of the run. */
  token: string;
  signal: AbortSignal;
}

/** How an agent's process ended. */
export interface AgentExit {
  code: number | null;
  signal: string | null;
  /** The last line it wrote that says anything. */
  lastLogLine: string | null;
  /** All of that in a sentence. */
  message: string;
}

/** An agent that was started and answers. Who starts it stops it: `await using`. */
export interface RunningAgent extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process that was started has ended, whoever ended it. */
  readonly exited: Promise<AgentExit>;
  /** Ends it and everything it started; resolves when all of that is gone. */
  stop(): Promise<void>;
}

const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 100;
const WATCHDOG = fileURLToPath(
  new URL(`./watchdog${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/**
 * Starts an agent and waits until it is ready. It ends with this process, however that ends.
 *
 * @throws BatError (code `agent`) when its port is taken, it cannot be started, ends, or is not ready in time; the
 * signal's reason when that is aborted. Nothing of it is left running then.
 */
export async function startAgent(spec: AgentSpec): Promise<RunningAgent> {
  await refuseTakenPort(spec);
  spec.signal.throwIfAborted();
  const agent = await launch(spec);
  try {
    await untilReady(spec, agent);
    return agent;
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

/** A port may still be held by what a killed run left: that is ours to end. A stranger's is left alone. */
async function refuseTakenPort({ name, url, token, shutdownTimeoutMs }: AgentSpec): Promise<void> {
  if (!(await isListening(url))) return;
  if ((await endCarriers(token, shutdownTimeoutMs)) > 0 && !(await isListening(url))) return;
  const port = Number(new URL(url).port);
  const holder = await listenerOf(port);
  const by = holder === null ? "another process" : holder;
  throw new BatError(
    "agent",
    `Cannot start "${name}": ${url} is already taken by ${by}; stop it or give the agent another port`,
  );
}

async function launch(spec: AgentSpec): Promise<RunningAgent> {
  const { command, cwd, logFile, token, shutdownTimeoutMs: graceMs } = spec;
  const log = openSync(logFile, "a");
  const watchdog = spawn(process.execPath, ["--no-warnings", WATCHDOG], {
    detached: true,
    stdio: ["pipe", "pipe", log],
    env: { PATH: process.env.PATH ?? "" },
  }) as ChildProcessByStdio<Writable, Readable, null>;
  closeSync(log);
  watchdog.stdin.on("error", () => {});
  const env = { ...spec.env, [TOKEN_VARIABLE]: token };
  const order: WatchdogOrder = { command: [...command], cwd, env, logFile, token, graceMs };
  watchdog.stdin.write(`${JSON.stringify(order)}\n`);

  const gone = new Promise<void>((resolve) => watchdog.once("close", () => resolve()));
  const exit = Promise.withResolvers<AgentExit>();
  const started = Promise.withResolvers<number>();
  onReports(watchdog.stdout, (report) => {
    if (report.report === "started") started.resolve(report.pid);
    else if (report.report === "not-started") started.reject(notStarted(spec, report.message));
    else if (report.report === "exited")
      void describeExit(spec, report.code, report.signal).then(exit.resolve);
  });
  watchdog.once("error", (error) => started.reject(notStarted(spec, error.message)));
  void gone.then(async () => {
    started.reject(notStarted(spec, "the watchdog ended"));
    // The watchdog itself was killed: the agent is ours to end all the same.
    await endCarriers(token, graceMs);
    exit.resolve(await describeExit(spec, null, null));
  });
  const pid = await started.promise;
  const stop = async () => {
    watchdog.stdin.end("stop\n");
    await gone;
    await exit.promise;
  };
  return { url: spec.url, pid, exited: exit.promise, stop, [Symbol.asyncDispose]: stop };
}

function onReports(from: Readable, take: (report: WatchdogReport) => void): void {
  createInterface({ input: from }).on("line", (line) => take(JSON.parse(line) as WatchdogReport));
}

function notStarted({ name, command, cwd }: AgentSpec, why: string): BatError {
  const missing = why.includes("ENOENT");
  const hint = missing ? ` (is "${command[0]}" installed, and is there a folder "${cwd}"?)` : "";
  return new BatError("agent", `Cannot start "${name}" with "${command.join(" ")}": ${why}${hint}`);
}

async function describeExit(spec: AgentSpec, code: number | null, signal: string | null): Promise<AgentExit> {
  const lastLogLine = await lastLine(spec.logFile);
  const how =
    signal !== null ? `was ended by ${signal}` : code === null ? "ended" : `ended with exit code ${code}`;
  const said = lastLogLine === null ? "" : `; last line of its log: ${lastLogLine}`;
  return { code, signal, lastLogLine, message: `The agent "${spec.name}" ${how}${said}` };
}

async function lastLine(file: string): Promise<string | null> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 16_384);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const lines = stripVTControlCharacters(buffer.toString("utf8")).split(/\r?\n/);
    const last = lines.findLast((line) => line.trim() !== "");
    return last === undefined ? null : last.trim().slice(0, 1_000);
  } finally {
    await handle.close();
  }
}

async function untilReady(spec: AgentSpec, agent: RunningAgent): Promise<void> {
  const deadline = performance.now() + spec.startupTimeoutMs;
  let exit: AgentExit | null = null;
  agent.exited.then((how) => {
    exit = how;
  });
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, LAST_POLL_MS)) {
    const ready = await answers(spec);
    spec.signal.throwIfAborted();
    if (exit !== null) throw stoppedEarly(spec, exit);
    if (ready) return;
    if (performance.now() > deadline) throw await neverReady(spec);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function answers({ url, ready, signal }: AgentSpec): Promise<boolean> {
  if (ready !== undefined) return (await statusOf(ready, signal)) === "ok";
  for (const path of CARD_PATHS) {
    const status = await statusOf(`${url}${path}`, signal);
    if (status !== "other") return status === "ok";
  }
  return false;
}

/** `none` when nothing answers, `ok` for 2xx, `other` for any other answer. */
function statusOf(url: string, signal: AbortSignal): Promise<"none" | "ok" | "other"> {
  return new Promise((resolve) => {
    const get = url.startsWith("https:") ? httpsGet : httpGet;
    const request = get(url, { agent: false, signal, timeout: 5_000 }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      resolve(statusCode >= 200 && statusCode < 300 ? "ok" : "other");
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve("none"));
  });
}

function stoppedEarly({ name, logFile }: AgentSpec, { code, signal, lastLogLine }: AgentExit): BatError {
  const how = signal ?? `exit code ${code}`;
  const said = lastLogLine === null ? "it wrote nothing" : lastLogLine;
  const unreachable = /agent[ _-]?card|mcp/i.test(lastLogLine ?? "");
  const hint = unreachable
    ? "\nA required agent or MCP server is unreachable: start it, or mark it `required: false` in config.yaml"
    : "";
  return new BatError(
    "agent",
    `"${name}" stopped before it was ready (${how}): ${said}${hint}\nAgent log: ${logFile}`,
  );
}

async function neverReady({ name, url, logFile, startupTimeoutMs, ready }: AgentSpec): Promise<BatError> {
  const what = ready ?? `the agent card at ${url}`;
  const last = await lastLine(logFile);
  const said = last === null ? "" : `; last line of its log: ${last}`;
  const limit = `${startupTimeoutMs / 1000} s (evaluation.agent_startup_timeout_s)`;
  return new BatError(
    "agent",
    `"${name}" was not ready within ${limit}: ${what} did not answer${said}\nAgent log: ${logFile}`,
  );
}
