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

/** The port of a URL, the scheme's own where it names none. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** Whether a URL means this machine by an address of its own: loopback, or any. */
export function isLoopback(url: string): boolean {
  return /^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|::1?)$/i.test(hostOf(url));
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/**
 * Whether something accepts connections at a URL's host and port. For this machine both kinds of loopback address count,
 * for an agent may bind to either.
 */
export async function isListening(url: string): Promise<boolean> {
  const hosts = isLoopback(url) ? [...new Set(["127.0.0.1", "::1", hostOf(url)])] : [hostOf(url)];
  const answers = await Promise.all(hosts.map((host) => accepts(host, portOf(url))));
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
