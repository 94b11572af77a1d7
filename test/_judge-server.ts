import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a judge's server answers to one request. */
export interface JudgeReply {
  text?: string;
  refusal?: string;
  finish?: string;
  status?: number;
  code?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  /** Sent as it is, in place of a JSON answer. */
  raw?: string;
  /** `reset` closes the connection without a word; `half` after half of the answer; `never` answers nothing. */
  trouble?: "reset" | "half" | "never";
  /** Tokens in and out. */
  usage?: [number, number];
}

/** A request as the server saw it. */
export interface JudgeRequest {
  /** Path, without what the server's address has. */
  path: string;
  structured: boolean;
  system: string;
  user: string;
  model: string;
  authorization: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body. */
  body: Readonly<Record<string, unknown>>;
  /** When it came, milliseconds since 1970. */
  at: number;
}

export interface JudgeServer extends AsyncDisposable {
  url: string;
  requests: JudgeRequest[];
  /** The most requests that were open at once. */
  most: number;
}

/** A real server on loopback with OpenAI's chat completions and responses APIs, whose answers a test decides. */
export async function judgeServer(
  answer: (request: JudgeRequest, count: number) => JudgeReply,
): Promise<JudgeServer> {
  let open = 0;
  const http = createServer(async (incoming, response) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    server.most = Math.max(server.most, open);
    const request = await read(incoming);
    server.requests.push(request);
    const reply = answer(request, server.requests.length);
    if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
    respond(request, reply, response);
  });
  const server: JudgeServer = {
    url: "",
    requests: [],
    most: 0,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
  return server;
}

interface Message {
  role: string;
  content: string | { text?: string }[];
}

async function read(incoming: IncomingMessage): Promise<JudgeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Record<string, unknown>;
  const messages = (body.messages ?? body.input ?? []) as Message[];
  const said = (...roles: string[]): string => {
    const content = messages.find(({ role }) => roles.includes(role))?.content ?? "";
    return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
  };
  const format = (body.text as { format?: { type?: string } } | undefined)?.format?.type;
  return {
    path: (incoming.url ?? "").replace(/^\/v1/, ""),
    structured: body.response_format !== undefined || format === "json_schema",
    system: said("system", "developer"),
    user: said("user"),
    model: String(body.model ?? ""),
    authorization: incoming.headers.authorization,
    headers: incoming.headers,
    body,
    at: Date.now(),
  };
}

function respond({ path }: JudgeRequest, reply: JudgeReply, response: ServerResponse): void {
  const { trouble, raw, status, headers } = reply;
  if (trouble === "never") return;
  if (trouble === "reset") {
    response.socket?.destroy();
    return;
  }
  const text = raw ?? JSON.stringify(bodyOf(path, reply));
  const type = raw === undefined ? "application/json" : "text/html";
  response.writeHead(status ?? 200, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  if (trouble === "half") response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
  else response.end(text);
}

function bodyOf(path: string, { text, refusal, finish, status, code, usage = [10, 5] }: JudgeReply): object {
  if (status !== undefined) return { error: { message: text, code, type: code } };
  const [input, output] = usage;
  if (path.startsWith("/responses")) {
    const content = [{ type: "output_text", text: text ?? "", annotations: [] }];
    return {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: "m",
      status: finish === "length" ? "incomplete" : "completed",
      incomplete_details: finish === "length" ? { reason: "max_output_tokens" } : null,
      output: [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }],
      usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    };
  }
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(refusal === undefined ? {} : { refusal }),
  };
  return {
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: finish ?? "stop", message }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}
