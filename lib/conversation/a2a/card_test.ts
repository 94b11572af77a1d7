import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { cardOf03, cardOf10, say, serve, stream } from "../../../test/_a2a-server.ts";
import { hold } from "../../../test/_hold.ts";
import { connectA2a } from "./client.ts";

const never = new AbortController().signal;

test("what is no card is told with what came instead, for each path that was tried", async () => {
  const cases: [string, string, RegExp][] = [
    [
      "text/html",
      "<!doctype html><title>Welcome</title>",
      /agent-card\.json: no JSON: .*agent\.json: no JSON/,
    ],
    ["application/json", '["card"]', /expected a JSON object/],
    ["application/json", '{"status":"ok"}', /expected an agent card, found an object without .*url/],
    ["application/json", "", /no JSON/],
    ["application/json", `{"name":"${"x".repeat(5 * 1024 * 1024)}"}`, /more than 4194304 bytes/],
  ];
  for (const [type, body, message] of cases) {
    const http = createServer((_, response) => {
      response.writeHead(200, { "content-type": type }).end(body);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    await assert.rejects(connectA2a({ url }, never), { code: "agent", message });
    http.closeAllConnections();
    http.close();
  }
});

test("a card that takes for ever can be given up", async () => {
  const http = createServer(() => stop.abort(new Error("enough")));
  const stop = new AbortController();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  await assert.rejects(connectA2a({ url }, stop.signal), /enough/);
  http.closeAllConnections();
  http.close();
});

test("of several interfaces the one of the forced version is taken, JSON-RPC before HTTP+JSON", async () => {
  const card = (url: string) => ({
    ...cardOf10(url),
    supportedInterfaces: [
      { url: `${url}/grpc`, protocolBinding: "GRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: `${url}/new`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/old`, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
  });
  await using server = await serve(card, ({ url }, response) => stream(response, [say.message(url)]));
  assert.equal((await hold(server.url)).output, "/new");
  assert.equal((await hold(server.url, ["hi"], {}, "0.3")).output, "/old");
});

test("a version that nobody knows is spoken to as 1.0, one below 0.3 as 0.3", async () => {
  for (const [stated, spoken] of [
    ["2.0", "SendStreamingMessage"],
    ["0.2.6", "message/stream"],
  ] as const) {
    await using server = await serve(
      (url) => cardOf03(url, { protocolVersion: stated }),
      ({ body }, response) => stream(response, [say.message(String(body.method))]),
    );
    assert.equal((await hold(server.url)).output, spoken);
  }
});

test("an address that holds only where the agent runs is replaced by the one it was found at", async () => {
  for (const stated of [
    "http://0.0.0.0:7777/a2a",
    "http://localhost:7777/a2a",
    "http://127.0.0.1:7777/a2a",
  ]) {
    await using server = await serve(
      () => cardOf10(stated),
      () => {},
    );
    const elsewhere = server.url.replace("127.0.0.1", "0.0.0.0");
    const client = await connectA2a({ url: elsewhere }, never);
    assert.equal(client.facts.url, "http://0.0.0.0:7777/a2a");
    await client.close();
  }
});

test("a card whose address is none is answered where it was found", async () => {
  for (const stated of ["", "not a url at all:", "grpc://127.0.0.1:1", 7, null]) {
    await using server = await serve(
      (url) => ({ ...cardOf03(url), url: stated }),
      (_, response) => stream(response, [say.message("here")]),
    );
    assert.equal((await hold(server.url)).output, "here");
  }
});
