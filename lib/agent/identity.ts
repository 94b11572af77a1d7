import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A process, told apart from a later one that got the same number. */
export interface ProcessIdentity {
  pid: number;
  /** When it began, in the words of the system it runs on; null where that cannot be had. */
  startTime: string | null;
}

/** This process. */
export function currentIdentity(): Promise<ProcessIdentity> {
  return identityOf(process.pid);
}

/** The process that has a number now. */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
  return { pid, startTime: await startTimeOf(pid) };
}

/** Whether this very process still runs (a zombie does not). */
export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  const now = await startTimeOf(pid);
  if (now !== null) return startTime === null || now === startTime;
  if (process.platform === "linux") return false;
  return startTime === null && exists(pid);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function startTimeOf(pid: number): Promise<string | null> {
  return process.platform === "linux" ? await linuxStartTime(pid) : await psStartTime(pid);
}

async function linuxStartTime(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; fields are counted from behind it. See proc_pid_stat(5).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

async function psStartTime(pid: number): Promise<string | null> {
  try {
    // The time is written in words: the same ones whatever this process's language and time zone are.
    const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { env });
    const [state = "", ...time] = stdout.trim().split(/\s+/);
    return state === "" || state.startsWith("Z") ? null : time.join(" ");
  } catch {
    return null;
  }
}
