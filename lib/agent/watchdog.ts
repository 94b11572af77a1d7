/**
 * The process between `bat` and an agent. It starts the agent in a session of its own and ends all of it when `bat` asks
 * for that or is gone, however it went: the pipe from `bat` then ends, `kill -9` included. As it is the watchdog that
 * starts the agent, there is no moment at which an agent runs that nobody watches. It lives in a session of its own too,
 * so that neither Ctrl-C nor the end of the agent's group reaches it.
 *
 * In: one line of JSON (`WatchdogOrder`), later `stop`. Out: lines of JSON (`WatchdogReport`). Its stderr is the agent's
 * log. It imports little, for every agent waits for it to start.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { endFamily } from "./family.ts";

export interface WatchdogOrder {
  command: string[];
  cwd: string;
  env: Record<string, string>;
  /** `NAME=value` in `env` by which the agent's processes are known. */
  mark: string;
  graceMs: number;
}

export type WatchdogReport =
  | { report: "started"; pid: number }
  | { report: "not-started"; message: string }
  | { report: "exited"; code: number | null; signal: string | null }
  /** `left`: processes that could not be ended. */
  | { report: "ended"; left: number[] };

const LOG = 2;

let agent: { child: ChildProcess; order: WatchdogOrder; exited: Promise<void> } | null = null;
let received = "";
let ordered = false;
let ending = false;

for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(name, () => {});
// When `bat` is gone nobody reads the reports.
process.stdout.on("error", () => {});

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  received += chunk;
  const cut = received.indexOf("\n");
  if (cut === -1) return;
  if (!ordered) {
    ordered = true;
    start(JSON.parse(received.slice(0, cut)) as WatchdogOrder);
  }
  if (received.length > cut + 1) void end();
});
process.stdin.on("error", () => void end());
process.stdin.on("end", () => void end());

function tell(report: WatchdogReport, then?: () => void): void {
  process.stdout.write(`${JSON.stringify(report)}\n`, then);
}

function start(order: WatchdogOrder): void {
  const { command, cwd, env } = order;
  const [file = "", ...args] = command;
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", LOG, LOG] });
    child.on("error", (error) => {
      if (child.pid === undefined) refuse(error);
    });
    if (child.pid === undefined) return;
    const exited = new Promise<void>((resolve) => {
      child.once("exit", (code, signal) => {
        tell({ report: "exited", code, signal });
        resolve();
        // What the agent left behind holds its port and is of no use to anyone.
        void end();
      });
    });
    agent = { child, order, exited };
    tell({ report: "started", pid: child.pid });
  } catch (error) {
    refuse(error as Error);
  }
}

function refuse({ message }: Error): void {
  tell({ report: "not-started", message });
  void end();
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  let left: number[] = [];
  if (agent !== null) {
    const { child, order, exited } = agent;
    ({ left } = await endFamily({ mark: order.mark, group: child.pid ?? null }, order.graceMs));
    if (left.length === 0) await exited;
  }
  tell({ report: "ended", left }, () => process.exit());
}
