import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the tests' servers see it. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: {
    method?: string;
    params?: { message?: Record<string, unknown> };
    message?: Record<string, unknown>;
  };
}

export interface TestServer extends AsyncDisposable {
  url: string;
  seen: Seen[];
}

type Answer = (seen: Seen, response: ServerResponse, server: TestServer) => void | Promise<void>;

/** A real server on loopback whose answers a test writes by hand; everything but the card goes to `answer`. */
export async function serve(card: (url: string) => unknown, answer: Answer): Promise<TestServer> {
  const seen: Seen[] = [];
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { method = "", url = "", headers } = request;
    const cardPath = url.startsWith("/.well-known/");
    const found = cardPath ? card(server.url) : null;
    if (cardPath && typeof found === "object" && found !== null) {
      const paths = (found as { path?: string }).path ?? "/.well-known/agent-card.json";
      if (url !== paths) {
        response.writeHead(404).end();
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(found));
      return;
    }
    const one: Seen = { method, url, headers, body: text === "" ? {} : JSON.parse(text) };
    seen.push(one);
    await answer(one, response, server);
  });
  const server: TestServer = {
    url: "",
    seen,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return server;
}

export const cardOf10 = (url: string, more: object = {}) => ({
  name: "test",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  ...more,
});

export const cardOf03 = (url: string, more: object = {}) => ({
  name: "test",
  protocolVersion: "0.3.0",
  url,
  preferredTransport: "JSONRPC",
  capabilities: { streaming: true },
  ...more,
});

/** Writes results as server-sent events of JSON-RPC and ends the stream. */
export function stream(response: ServerResponse, results: readonly object[], end = true): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const result of results)
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`);
  if (end) response.end();
}

export function rpcError(response: ServerResponse, code: number, message: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } }));
}

const status = (state: string, text?: string, taskId = "t1") => ({
  statusUpdate: {
    taskId,
    contextId: "c",
    status: {
      state,
      ...(text === undefined ? {} : { message: { role: "ROLE_AGENT", messageId: "m", parts: [{ text }] } }),
    },
  },
});

/** Results of A2A 1.0. */
export const say = {
  task: (state = "TASK_STATE_SUBMITTED", taskId = "t1") => ({
    task: { id: taskId, contextId: "c", status: { state } },
  }),
  working: (text?: string) => status("TASK_STATE_WORKING", text),
  completed: (text?: string) => status("TASK_STATE_COMPLETED", text),
  failed: (text?: string, taskId?: string) => status("TASK_STATE_FAILED", text, taskId),
  asks: (text: string) => status("TASK_STATE_INPUT_REQUIRED", text),
  artifact: (text: string, { id = "a", append = false } = {}) => ({
    artifactUpdate: { taskId: "t1", contextId: "c", artifact: { artifactId: id, parts: [{ text }] }, append },
  }),
  message: (text: string, id = "m1") => ({
    message: { role: "ROLE_AGENT", messageId: id, parts: [{ text }] },
  }),
};
