import { createServer } from "node:http";
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
}

/** A request as the server saw it. */
export interface JudgeRequest {
  structured: boolean;
  system: string;
  user: string;
  authorization: string | undefined;
  /** When it came, milliseconds since 1970. */
  at: number;
}

export interface JudgeServer extends AsyncDisposable {
  url: string;
  requests: JudgeRequest[];
  /** The most requests that were open at once. */
  most: number;
}

/** A real server on loopback with OpenAI's chat completions API, whose answers a test decides. */
export async function judgeServer(
  answer: (request: JudgeRequest, count: number) => JudgeReply,
): Promise<JudgeServer> {
  let open = 0;
  const http = createServer(async (incoming, response) => {
    open += 1;
    server.most = Math.max(server.most, open);
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const { messages, response_format } = JSON.parse(body) as {
      messages: { role: string; content: string }[];
      response_format?: unknown;
    };
    const said = (role: string) => messages.find((message) => message.role === role)?.content ?? "";
    const request = {
      structured: response_format !== undefined,
      system: said("system"),
      user: said("user"),
      authorization: incoming.headers.authorization,
      at: Date.now(),
    };
    server.requests.push(request);
    const reply = answer(request, server.requests.length);
    if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
    open -= 1;
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    if (reply.status !== undefined) {
      response.end(JSON.stringify({ error: { message: reply.text, code: reply.code, type: reply.code } }));
      return;
    }
    const message = {
      role: "assistant",
      content: reply.text ?? null,
      ...(reply.refusal === undefined ? {} : { refusal: reply.refusal }),
    };
    const choices = [{ index: 0, finish_reason: reply.finish ?? "stop", message }];
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    response.end(
      JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m", choices, usage }),
    );
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
