import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { cardOf03, cardOf10, say, serve } from "../../../test/_a2a-server.ts";
import { hold, outcome } from "../../../test/_hold.ts";

const card10 = (url: string, more: object = {}) => ({
  ...cardOf10(url, more),
  supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
});
const card03 = (url: string, more: object = {}) =>
  cardOf03(url, { preferredTransport: "HTTP+JSON", ...more });
const done = (output: string) => ({ status: "completed", output, problem: null });

/** Events of HTTP+JSON come without an envelope, and may be spread over lines. */
function events(response: ServerResponse, values: readonly object[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const value of values) {
    const lines = JSON.stringify(value, null, 2).split("\n");
    response.write(`${lines.map((line) => `data: ${line}`).join("\r\n")}\r\n\r\n`);
  }
  response.end();
}

function answer(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

test("version 0.3 over HTTP+JSON is the JSON of its protocol buffers, both ways", async () => {
  const message = { messageId: "m", role: "ROLE_AGENT", content: [{ text: "hello" }] };
  const status = { state: "TASK_STATE_COMPLETED", message };
  await using server = await serve(card03, (_, response) =>
    events(response, [say.task(), { statusUpdate: { taskId: "t1", contextId: "c", status } }]),
  );
  assert.deepEqual(outcome(await hold(server.url)), done("hello"));
  const [seen] = server.seen;
  assert.equal(seen?.url, "/v1/message:stream");
  const { messageId, ...rest } = seen?.body.message ?? {};
  assert.equal(typeof messageId, "string");
  assert.deepEqual(rest, { contextId: "c__try0", role: "ROLE_USER", content: [{ text: "hi" }] });
});

test("without stream a message is sent and its task asked for", async () => {
  for (const [card, prefix] of [
    [card10, ""],
    [card03, "/v1"],
  ] as const) {
    await using server = await serve(
      (url) => card(url, { capabilities: { streaming: false } }),
      ({ url }, response) => {
        if (url === `${prefix}/message:send`) answer(response, 201, say.task());
        else {
          const { task } = say.task("TASK_STATE_COMPLETED");
          answer(response, 200, { ...task, artifacts: [{ artifactId: "a", parts: [{ text: "whole" }] }] });
        }
      },
    );
    assert.deepEqual(outcome(await hold(server.url)), done("whole"));
    assert.deepEqual(
      server.seen.map(({ method, url }) => `${method} ${url}`),
      [`POST ${prefix}/message:send`, `GET ${prefix}/tasks/t1`],
    );
  }
});

test("a refused task is left out of the next try, however HTTP says it", async () => {
  const refusals: [number, object][] = [
    [404, { code: -32001, message: "Task not found" }],
    [404, { message: "Task not found" }],
    [404, { error: { code: 404, status: "NOT_FOUND", message: "no such task" } }],
    [400, { error: { code: 400, status: "FAILED_PRECONDITION", message: "is over" } }],
    [409, {}],
    [500, { code: -32603, message: "oops" }],
  ];
  for (const [status, body] of refusals) {
    await using server = await serve(card10, ({ body: { message } }, response, { seen }) => {
      if (message?.taskId !== undefined) answer(response, status, body);
      else events(response, seen.length === 1 ? [say.task(), say.asks("Which?")] : [say.message("ok")]);
    });
    const held = await hold(server.url, ["a", "b", "c"]);
    assert.deepEqual(outcome(held), done("ok"), JSON.stringify(body));
    assert.deepEqual([...new Set(server.seen.map(({ url }) => url))], ["/message:stream"]);
  }
});

test("errors come in the stream, with a status, and without words", async () => {
  const cases: [(response: ServerResponse) => void, RegExp][] = [
    [(r) => events(r, [say.task(), { code: -32603, message: "kaputt" }]), /^A2AError: .*-32603: kaputt/],
    [(r) => answer(r, 400, { error: { code: 400, message: "bad turn" } }), /^A2AError: .*400: bad turn/],
    [(r) => void r.writeHead(502).end(), /^HttpError: HTTP 502 Bad Gateway$/],
  ];
  for (const [fail, output] of cases) {
    await using server = await serve(card10, (_, response) => fail(response));
    const held = await hold(server.url);
    assert.equal(held.problem?.code, "protocol");
    assert.match(held.output, output);
  }
});

test("a tenant and an odd task id have their place in the address", async () => {
  const card = (url: string) => ({
    ...cardOf10(url, { capabilities: {} }),
    supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0", tenant: "a/b" }],
  });
  await using server = await serve(card, ({ method }, response) => {
    if (method === "POST") answer(response, 200, say.task("TASK_STATE_WORKING", "x/\ud800"));
    else answer(response, 200, say.task("TASK_STATE_COMPLETED").task);
  });
  assert.equal((await hold(server.url)).status, "completed");
  assert.deepEqual(
    server.seen.map(({ url }) => url),
    ["/a%2Fb/message:send", "/a%2Fb/tasks/x%2F%EF%BF%BD"],
  );
});
