import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Carried by every process of a run: what an earlier `bat` left of it is known by that. */
export const RUN_VARIABLE = "BAT_RUN_TOKEN";
/** Carried by the processes of one start only, so that the end of one start never reaches the next. */
export const START_VARIABLE = "BAT_START_TOKEN";
/** Carried by a watchdog, which is no part of the agent: the run whose agent it watches. */
export const WATCHDOG_VARIABLE = "BAT_WATCHDOG_OF";

/** An agent's process and all that it started, wherever that is now. */
export interface Family {
  /** `NAME=value` in the environment of each; the value is random, so nobody else's process can have it. */
  mark: string;
  /** The process group that the agent leads; null once it is empty, for its number may then become another's. */
  group: number | null;
}

interface Member {
  pid: number;
  group: number;
}

/** The processes of a family that live at this moment. Zombies do not. */
export function membersOf(family: Family): Member[] {
  const members = process.platform === "linux" ? linuxMembers(family) : psMembers(family);
  return members.filter(({ pid }) => pid !== process.pid);
}

function linuxMembers({ mark, group }: Family): Member[] {
  const members: Member[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The name in parentheses may hold anything; fields are counted from behind it. See proc_pid_stat(5).
      const [state = "", , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" || state === "X") continue;
      const member = { pid: Number(name), group: Number(processGroup) };
      if (member.group === group || linuxCarries(name, mark)) members.push(member);
    } catch {
      // Ended in this moment.
    }
  }
  return members;
}

function linuxCarries(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark);
  } catch {
    // Ended in this moment, or another user's: none of ours.
    return false;
  }
}

function psMembers({ mark, group }: Family): Member[] {
  const list = execFileSync("ps", ["eww", "-ax", "-o", "pid=,pgid=,stat=,command="], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return list.split("\n").flatMap((line) => {
    const [, pid, processGroup, state = "", rest = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || state.startsWith("Z")) return [];
    const member = { pid: Number(pid), group: Number(processGroup) };
    return member.group === group || rest.split(" ").includes(mark) ? [member] : [];
  });
}

const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 50;
/** How long a process may take to go after SIGKILL; one that waits on a device may never. */
const KILL_LIMIT_MS = 5_000;

/**
 * Ends a family: SIGTERM, once to each, and SIGKILL to what is left after `graceMs`. Every process is looked at right
 * before it is signalled.
 *
 * @returns how many there were at first, and the numbers of those that not even SIGKILL ended
 */
export async function endFamily(family: Family, graceMs: number): Promise<{ ended: number; left: number[] }> {
  const began = performance.now();
  const asked = new Set<number>();
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LAST_LOOK_MS)) {
    const members = membersOf(family);
    const elapsed = performance.now() - began;
    if (members.length === 0) return { ended: asked.size, left: [] };
    if (elapsed > graceMs + KILL_LIMIT_MS) return { ended: asked.size, left: members.map(({ pid }) => pid) };
    if (!members.some(({ group }) => group === family.group)) family.group = null;
    if (elapsed >= graceMs) signalAll(family, members, "SIGKILL");
    else
      signalAll(
        family,
        members.filter(({ pid }) => !asked.has(pid)),
        "SIGTERM",
      );
    for (const { pid } of members) asked.add(pid);
    const untilGrace = graceMs - (performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, untilGrace > 0 ? Math.min(pause, untilGrace) : pause));
  }
}

/** The whole group in one call where its leader is among them, so that none of it can fork away in between. */
function signalAll(family: Family, members: readonly Member[], name: NodeJS.Signals): void {
  const whole = members.some(({ pid }) => pid === family.group) ? family.group : null;
  if (whole !== null) signal(-whole, name);
  for (const { pid, group } of members) if (group !== whole) signal(pid, name);
}

/** Signals a process or, by its negative number, a group; one that is gone already needs none. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/**
 * Ends every process that an earlier `bat` left of a run.
 *
 * @param token the run's
 * @returns how many there were
 */
export async function reapLeftovers(token: string, graceMs = 2_000): Promise<number> {
  return (await endFamily({ mark: `${RUN_VARIABLE}=${token}`, group: null }, graceMs)).ended;
}
