import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** Why a request got no answer. */
export class TransportError extends Error {
  /** Nothing of the request can have reached the other side. */
  readonly refused: boolean;

  constructor(message: string, refused: boolean, cause: unknown) {
    super(message, { cause });
    this.name = "TransportError";
    this.refused = refused;
  }
}

const REFUSED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
]);

/** Answers that send a request on as it is: servers add a missing slash so. */
const REDIRECTS = new Set([301, 302, 307, 308]);
const MOST_REDIRECTS = 5;

export interface HttpRequest {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** Connections of one agent's client, kept open between requests. No limit of their own on how long an answer takes. */
export class HttpConnections {
  readonly #http = new HttpAgent({ keepAlive: true, scheduling: "lifo" });
  readonly #https = new HttpsAgent({ keepAlive: true, scheduling: "lifo" });

  /**
   * Sends a request and resolves with the answer's head; its body is still to be read.
   *
   * A connection that the server closed while it lay idle is no fault of the request: it is sent once more.
   *
   * @throws TransportError; the signal's reason when that is aborted
   */
  async send(url: string, request: HttpRequest): Promise<IncomingMessage> {
    let target = url;
    for (let hops = 0; ; hops += 1) {
      const first = await this.#sendOnce(target, request, false);
      const answer = first === "stale" ? await this.#sendAgain(target, request) : first;
      const { location } = answer.headers;
      if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined || hops >= MOST_REDIRECTS)
        return answer;
      answer.resume();
      target = redirectTarget(location, target);
    }
  }

  async #sendAgain(url: string, request: HttpRequest): Promise<IncomingMessage> {
    try {
      return (await this.#sendOnce(url, request, true)) as IncomingMessage;
    } catch (error) {
      // The first time it may have been the request that ended the other side.
      if (error instanceof TransportError) throw new TransportError(error.message, false, error.cause);
      throw error;
    }
  }

  #sendOnce(url: string, { method, headers, body, signal }: HttpRequest, fresh: boolean) {
    return new Promise<IncomingMessage | "stale">((resolve, reject) => {
      const secure = url.startsWith("https:");
      const agent = fresh ? false : secure ? this.#https : this.#http;
      const send = secure ? httpsRequest : httpRequest;
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const outgoing = send(url, { method, agent, signal, headers: { ...headers, ...length } }, resolve);
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        if (signal.aborted) reject(signal.reason);
        else if (outgoing.reusedSocket && !fresh && (error.code === "ECONNRESET" || error.code === "EPIPE"))
          resolve("stale");
        else reject(new TransportError(transportMessage(error, url), isRefused(error), error));
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

function redirectTarget(location: string, from: string): string {
  const target = URL.parse(location, from);
  if (target !== null && ["http:", "https:"].includes(target.protocol)) return target.href;
  throw new TransportError(
    `${new URL(from).origin} redirects to ${JSON.stringify(location.slice(0, 200))}, which is no address of the web`,
    false,
    undefined,
  );
}

function isRefused(error: NodeJS.ErrnoException): boolean {
  const errors = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
  return errors.every(({ code }) => code !== undefined && REFUSED.has(code));
}

function transportMessage(error: NodeJS.ErrnoException, url: string): string {
  const origin = new URL(url).origin;
  const errors = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
  const code = errors[0]?.code ?? error.code;
  switch (code) {
    case "ECONNREFUSED":
      return `Connection to ${origin} refused: nothing listens there`;
    case "ECONNRESET":
      return `Connection to ${origin} was reset`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `Host of ${origin} not found`;
    default:
      return `Connection to ${origin} failed: ${error.message === "" ? (code ?? "unknown reason") : error.message}`;
  }
}

/** Reads a whole body, at most `limit` bytes of it. Throws TransportError when the connection is cut. */
export async function readBody(
  message: IncomingMessage,
  limit: number,
): Promise<{ text: string; whole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(message)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limit) {
      message.destroy();
      return { text: Buffer.concat(chunks).subarray(0, limit).toString("utf8"), whole: false };
    }
  }
  return { text: Buffer.concat(chunks).toString("utf8"), whole: true };
}

/** The chunks of a body; a cut connection is a TransportError. */
export async function* chunksOf(message: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of message) yield chunk as Buffer;
  } catch (error) {
    throw new TransportError(
      `The connection was cut in the middle of the answer: ${(error as Error).message}`,
      false,
      error,
    );
  }
}
