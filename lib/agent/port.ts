import { readdir, readFile, readlink } from "node:fs/promises";
import { connect, createServer } from "node:net";

/** A port of the loopback interface that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Whether something accepts connections at a URL's host and port. */
export async function isListening(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const host = hostname.replace(/^\[|\]$/g, "");
  const hosts = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
  const answers = await Promise.all(hosts.map((one) => accepts(one, number)));
  return answers.includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => done(false));
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

/** Who listens on a port, for a message: `process 123 (python3)`; null where that cannot be found. */
export async function listenerOf(port: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  const inodes = new Set<string>();
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of (await readFile(table, "utf8").catch(() => "")).split("\n")) {
      const fields = line.trim().split(/\s+/);
      // State 0A is LISTEN. See proc_pid_net(5).
      if (fields[3] === "0A" && fields[1]?.endsWith(`:${hex}`) && fields[9] !== undefined)
        inodes.add(fields[9]);
    }
  }
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [] as string[])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const name = (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
      return `process ${pid}${name === "" ? "" : ` (${name})`}`;
    }
  }
  return null;
}
