import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { BatError } from "../errors.ts";
import type { AgentExit, AgentSpec } from "./agent.ts";
import { endFamily, type Family, RUN_VARIABLE, START_VARIABLE, WATCHDOG_VARIABLE } from "./family.ts";
import { lastLogLine, logSize } from "./log-tail.ts";
import type { WatchdogOrder, WatchdogReport } from "./watchdog.ts";

const WATCHDOG = fileURLToPath(
  new URL(`./watchdog${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** An agent's process under its watchdog, ready or not. */
export interface LaunchedAgent {
  pid: number;
  /** By which it and what it starts are known. */
  family: Family;
  exited: Promise<AgentExit>;
  /** Size of its log before it began, in bytes. */
  logStart: number;
  stop(): Promise<AgentExit>;
}

/** Starts an agent's process. Throws BatError (code `agent`) when there is no such program or folder. */
export async function launch(spec: AgentSpec): Promise<LaunchedAgent> {
  const logStart = await logSize(spec.logFile);
  const startToken = randomBytes(16).toString("hex");
  const mark = `${START_VARIABLE}=${startToken}`;
  const family: Family = { mark, group: null };
  const watchdog = startWatchdog(spec);
  const order: WatchdogOrder = {
    command: [...spec.command],
    cwd: resolve(spec.cwd),
    env: { ...spec.env, [RUN_VARIABLE]: spec.token, [START_VARIABLE]: startToken },
    mark,
    graceMs: spec.shutdownTimeoutMs,
  };
  watchdog.stdin.write(`${JSON.stringify(order)}\n`);

  const started = Promise.withResolvers<number>();
  const exit = Promise.withResolvers<AgentExit>();
  const describe = (code: number | null, signal: string | null) => describeExit(spec, logStart, code, signal);
  let left: number[] = [];
  let reported = false;
  createInterface({ input: watchdog.stdout }).on("line", (line) => {
    const report = JSON.parse(line) as WatchdogReport;
    if (report.report === "started") started.resolve(report.pid);
    else if (report.report === "not-started") started.reject(notStarted(spec, report.message));
    else if (report.report === "ended") left = report.left;
    else {
      reported = true;
      exit.resolve(describe(report.code, report.signal));
    }
  });
  const gone = new Promise<void>((done) => watchdog.once("close", () => done())).then(async () => {
    started.reject(notStarted(spec, "its watchdog ended"));
    if (reported) return;
    // The watchdog itself was killed: the agent is ours to end all the same.
    ({ left } = await endFamily({ mark, group: family.group }, spec.shutdownTimeoutMs));
    exit.resolve(describe(null, null));
  });
  watchdog.once("error", (error) => started.reject(notStarted(spec, error.message)));

  const pid = await started.promise.catch(async (error: unknown) => {
    watchdog.stdin.end();
    await gone;
    throw error;
  });
  family.group = pid;
  const stop = async () => {
    watchdog.stdin.end("stop\n");
    await gone;
    if (left.length > 0) {
      const who = left.length === 1 ? `Process ${left[0]}` : `Processes ${left.join(", ")}`;
      throw new BatError(
        "agent",
        `${who} of the agent "${spec.name}" could not be ended, not even by SIGKILL`,
      );
    }
    return await exit.promise;
  };
  return { pid, family, exited: exit.promise, logStart, stop };
}

function startWatchdog({ logFile, token }: AgentSpec): ChildProcessByStdio<Writable, Readable, null> {
  const log = openSync(logFile, "a");
  const cache = getCompileCacheDir();
  try {
    const watchdog = spawn(process.execPath, ["--no-warnings", WATCHDOG], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "pipe", log],
      // No NODE_OPTIONS of the user's changes how it runs. The cache spares it the compiling: its start is waited for.
      env: {
        PATH: process.env.PATH ?? "",
        [WATCHDOG_VARIABLE]: token,
        ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }),
      },
    }) as ChildProcessByStdio<Writable, Readable, null>;
    watchdog.stdin.on("error", () => {});
    return watchdog;
  } finally {
    closeSync(log);
  }
}

function notStarted({ name, command, cwd }: AgentSpec, why: string): BatError {
  const what = `Cannot start "${name}" with "${command.join(" ")}"`;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    return new BatError("agent", `${what}: there is no folder "${cwd}"`);
  if (/\bENOENT\b/.test(why))
    return new BatError(
      "agent",
      `${what}: no program "${command[0]}" was found; is it installed and in PATH?`,
    );
  return new BatError("agent", `${what}: ${why}`);
}

async function describeExit(
  spec: AgentSpec,
  logStart: number,
  code: number | null,
  signal: string | null,
): Promise<AgentExit> {
  const line = await lastLogLine(spec.logFile, logStart);
  const how =
    signal !== null ? `was ended by ${signal}` : code === null ? "ended" : `ended with exit code ${code}`;
  const said = line === null ? "" : `; last line of its log: "${line}"`;
  return { code, signal, lastLogLine: line, message: `The agent "${spec.name}" ${how}${said}` };
}
