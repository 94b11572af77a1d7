import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** The variable by which every process that descends from an agent of ours is known. */
export const TOKEN_VARIABLE = "BAT_RUN_TOKEN";

/**
 * Processes that carry a run's token in their environment: the agent and all that it started, in whatever group or
 * session they are now. Only processes of ours can carry it, for it is random.
 */
export function carriers(token: string): number[] {
  const mark = `${TOKEN_VARIABLE}=${token}`;
  const found = process.platform === "linux" ? linuxCarriers(mark) : psCarriers(mark);
  return found.filter((pid) => pid !== process.pid);
}

function linuxCarriers(mark: string): number[] {
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(mark)) pids.push(Number(name));
    } catch {
      // Ended in this moment, or another user's: none of ours.
    }
  }
  return pids;
}

function psCarriers(mark: string): number[] {
  try {
    const lines = execFileSync("ps", ["eww", "-ax", "-o", "pid=,command="], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    return lines.split("\n").flatMap((line) => {
      const [, pid, rest = ""] = /^\s*(\d+)\s(.*)$/.exec(line) ?? [];
      return pid !== undefined && rest.split(" ").includes(mark) ? [Number(pid)] : [];
    });
  } catch {
    return [];
  }
}

/** Signals a process; one that is gone already needs none. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code !== "ESRCH" &&
      (error as NodeJS.ErrnoException).code !== "EPERM"
    )
      throw error;
  }
}

/**
 * Ends every process that carries a token: SIGTERM, and SIGKILL to what is left after `graceMs`.
 *
 * @returns how many there were
 */
export async function endCarriers(token: string, graceMs: number): Promise<number> {
  const first = carriers(token);
  if (first.length === 0) return 0;
  for (const pid of first) signal(pid, "SIGTERM");
  const deadline = performance.now() + graceMs;
  for (;;) {
    const left = carriers(token);
    if (left.length === 0) return first.length;
    if (performance.now() > deadline) for (const pid of left) signal(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
