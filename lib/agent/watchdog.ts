/**
 * The process between `bat` and an agent. It starts the agent in a session of its own and ends all of it when `bat` asks
 * for that or is gone, however it went: the pipe from `bat` then ends, `kill -9` included. It lives in a session of its
 * own too, so that neither Ctrl-C nor the end of the agent's group reaches it.
 *
 * In: one line of JSON (`WatchdogOrder`), later `stop`. Out: lines of JSON (`WatchdogReport`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { createInterface } from "node:readline";
import { carriers, endCarriers, signal } from "./carriers.ts";

export interface WatchdogOrder {
  command: string[];
  cwd: string;
  env: Record<string, string>;
  logFile: string;
  token: string;
  graceMs: number;
}

export type WatchdogReport =
  | { report: "started"; pid: number }
  | { report: "not-started"; message: string }
  | { report: "exited"; code: number | null; signal: string | null }
  | { report: "ended" };

for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(name, () => {});
// When `bat` is gone nobody reads the reports.
process.stdout.on("error", () => {});

function tell(report: WatchdogReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

let order: WatchdogOrder | null = null;
let agent: ChildProcess | null = null;
let ending = false;

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (order === null) {
    order = JSON.parse(line) as WatchdogOrder;
    agent = start(order);
  } else {
    void end();
  }
});
lines.on("close", () => void end());

function start({ command: [file = "", ...args], cwd, env, logFile }: WatchdogOrder): ChildProcess {
  const log = openSync(logFile, "a");
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", log, log] });
  child.on("spawn", () => tell({ report: "started", pid: child.pid ?? 0 }));
  child.on("error", (error) => {
    if (child.pid !== undefined) return;
    tell({ report: "not-started", message: error.message });
    process.exitCode = 1;
    process.stdin.destroy();
  });
  child.on("exit", (code, name) => {
    tell({ report: "exited", code, signal: name });
    // What the agent left behind holds its port and is of no use to anyone.
    void end();
  });
  return child;
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  if (order !== null && agent?.pid !== undefined) {
    const running = agent.exitCode === null && agent.signalCode === null;
    // The group may be signalled only while its leader is ours to wait for: later the number may be another's.
    if (running) signalGroup(agent.pid, "SIGTERM");
    const kill = setTimeout(() => {
      if (agent?.pid !== undefined && agent.exitCode === null && agent.signalCode === null)
        signalGroup(agent.pid, "SIGKILL");
    }, order.graceMs);
    await endCarriers(order.token, order.graceMs);
    if (running) await new Promise((resolve) => (hasEnded() ? resolve(null) : agent?.once("exit", resolve)));
    clearTimeout(kill);
    while (carriers(order.token).length > 0) await endCarriers(order.token, 0);
  }
  tell({ report: "ended" });
  process.stdin.destroy();
}

function hasEnded(): boolean {
  return agent === null || agent.exitCode !== null || agent.signalCode !== null;
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  signal(-pid, name);
}
