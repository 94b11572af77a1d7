import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process that listens on a port. */
export interface Listener {
  pid: number;
  name: string;
}

/** `process 123 (python3)`, for messages. */
export function describeListener({ pid, name }: Listener): string {
  return `process ${pid}${name === "" ? "" : ` (${name})`}`;
}

/** Who listens on a port; null where nobody does or that cannot be found (other systems than Linux, other users). */
export function listenerOf(port: number): Listener | null {
  const sockets = listeningSockets(port);
  return sockets.size === 0 ? null : holderOf(sockets);
}

/**
 * The process outside a family that listens on a port and would be taken for one of it.
 *
 * @param leader the one that most likely listens
 * @param others the rest of its family; asked only where the leader is not all that listens, for that takes longer
 * @returns null where all that listens is ours, or what is not cannot be found
 */
export function strangerOn(port: number, leader: number, others: () => readonly number[]): Listener | null {
  const sockets = listeningSockets(port);
  const without = (pid: number) => {
    for (const socket of socketsOf(pid)) sockets.delete(socket);
    return sockets.size === 0;
  };
  if (sockets.size === 0 || without(leader) || others().some(without)) return null;
  const holder = holderOf(sockets);
  return holder === null || CONTAINER_PROXIES.test(holder.name) ? null : holder;
}

/** They hold the ports of a container for it and are children of its engine, not of the command that started it. */
const CONTAINER_PROXIES = /^(docker-proxy|rootlessport|rootlesskit|conmon|passt|pasta|slirp4netns)/;

/** Inodes of the sockets that listen on a port at a loopback address or at any. */
function listeningSockets(port: number): Set<string> {
  const sockets = new Set<string>();
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readOrEmpty(table).split("\n")) {
      // Fields and their numbers: see proc_pid_net(5). State 0A is LISTEN.
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
      if (
        state === "0A" &&
        local.endsWith(suffix) &&
        isLocal(local.slice(0, -suffix.length)) &&
        inode !== undefined
      )
        sockets.add(inode);
    }
  }
  return sockets;
}

/** Addresses stand there in hexadecimal, each group of four bytes in the machine's order. */
function isLocal(address: string): boolean {
  return /^0*$/.test(address) || /7F$/.test(address) || /^0{24}0*10*$/.test(address);
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOrEmpty(`/proc/${pid}/fd/${fd}`))?.[1];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return [];
  }
}

function holderOf(sockets: ReadonlySet<string>): Listener | null {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    if (socketsOf(Number(name)).some((socket) => sockets.has(socket)))
      return { pid: Number(name), name: readOrEmpty(`/proc/${name}/comm`).trim() };
  }
  return null;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function linkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
