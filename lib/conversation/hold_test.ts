import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { cardOf03, cardOf10, rpcError, say, serve, stream, type TestServer } from "../../test/_a2a-server.ts";
import { hold, outcome } from "../../test/_hold.ts";
import { connectA2a } from "./a2a/client.ts";
import { holdConversation } from "./hold.ts";

const never = new AbortController().signal;

const methods = (server: TestServer) => server.seen.map(({ body }) => body.method);

test("a streamed answer gives its status, its text, its events and what was sent", async () => {
  await using server = await serve(cardOf10, (_, response) =>
    stream(response, [say.task(), say.working("Thinking"), say.artifact("42"), say.completed()]),
  );
  const answer = await hold(server.url);
  assert.deepEqual(outcome(answer), { status: "completed", output: "42", problem: null });
  assert.deepEqual(
    answer.events.map(({ task_status, content_preview, user_input }) => [
      task_status,
      content_preview,
      user_input,
    ]),
    [
      ["working", "", "hi"],
      ["working", "Thinking", null],
      ["completed", "42", null],
      ["completed", "", null],
    ],
  );
  const [seen] = server.seen;
  assert.equal(seen?.headers["a2a-version"], "1.0");
  assert.equal(seen?.headers.traceparent, `00-${answer.sent[0]?.traceId}-${answer.sent[0]?.spanId}-01`);
  assert.equal(seen?.body.params?.message?.contextId, "c__try0");
  assert.ok(
    !JSON.stringify(seen?.body).includes(answer.sent[0]!.traceId),
    "the trace context is in the header only",
  );
});

test("texts: the final status's, else artifacts by id, else messages, else what working statuses said", async () => {
  const cases: [object[], string][] = [
    [[say.task(), say.artifact("draft"), say.completed("Final.")], "Final."],
    [
      [
        say.task(),
        say.artifact("a ", { append: true }),
        say.artifact("b", { append: true }),
        say.completed(),
      ],
      "a b",
    ],
    [[say.task(), say.artifact("a", { append: true }), say.artifact("whole"), say.completed()], "whole"],
    [
      [say.task(), say.artifact("one", { id: "1" }), say.artifact("two", { id: "2" }), say.completed()],
      "one\ntwo",
    ],
    [[say.message("Hello")], "Hello"],
    [[say.task(), say.working("Hel"), say.working("Hello"), say.completed()], "Hello"],
    [[say.task(), say.completed()], ""],
  ];
  for (const [events, output] of cases) {
    await using server = await serve(cardOf10, (_, response) => stream(response, events));
    const answer = await hold(server.url);
    assert.deepEqual(outcome(answer), { status: "completed", output, problem: null });
    assert.equal(answer.notes.includes("Completed without any text"), output === "");
  }
});

test("events of the other version inside a stream are read all the same", async () => {
  const old = {
    kind: "status-update",
    taskId: "t",
    status: {
      state: "completed",
      message: { kind: "message", role: "agent", parts: [{ kind: "text", text: "old" }] },
    },
  };
  await using server = await serve(cardOf10, (_, response) => stream(response, [say.task(), old]));
  assert.deepEqual(outcome(await hold(server.url)), { status: "completed", output: "old", problem: null });
});

test("a server of the other version is found out, once for all conversations", async () => {
  for (const [card, speaks] of [
    [cardOf03, "SendStreamingMessage"],
    [cardOf10, "message/stream"],
  ] as const) {
    await using server = await serve(card, ({ body }, response) => {
      if (body.method !== speaks) rpcError(response, -32601, "Method not found");
      else stream(response, [say.message("ok")]);
    });
    assert.deepEqual(outcome(await hold(server.url, ["a", "b"])), {
      status: "completed",
      output: "ok",
      problem: null,
    });
    assert.equal(methods(server).filter((method) => method !== speaks).length, 1);
  }
});

test("a forced version is kept to", async () => {
  await using server = await serve(cardOf10, (_, response) => rpcError(response, -32601, "Method not found"));
  const answer = await hold(server.url, ["hi"], {}, "0.3");
  assert.equal(answer.problem?.code, "protocol");
  assert.deepEqual([...new Set(methods(server))], ["message/stream", "message/send"]);
});

test("a version that the server does not support is given up for the other", async () => {
  await using server = await serve(cardOf10, ({ headers }, response) => {
    if (headers["a2a-version"] === "1.0") rpcError(response, -32009, "Version not supported");
    else stream(response, [say.message("ok")]);
  });
  assert.equal((await hold(server.url)).output, "ok");
});

test("an agent that does not stream is asked without, and polled while it works", async () => {
  let asked = 0;
  await using server = await serve(
    (url) => cardOf10(url, { capabilities: {} }),
    ({ body }, response) => {
      response.setHeader("content-type", "application/json");
      if (body.method === "GetTask") asked += 1;
      const done = asked >= 3;
      const status = done
        ? {
            state: "TASK_STATE_COMPLETED",
            message: { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "done" }] },
          }
        : { state: "TASK_STATE_WORKING" };
      const task = { id: "t1", contextId: "c", status };
      response.end(
        JSON.stringify({ jsonrpc: "2.0", id: 1, result: body.method === "GetTask" ? task : { task } }),
      );
    },
  );
  assert.deepEqual(outcome(await hold(server.url)), { status: "completed", output: "done", problem: null });
  assert.equal(asked, 3);
});

test("an agent that says it streams and does not is asked without", async () => {
  await using server = await serve(cardOf10, ({ body }, response) => {
    if (body.method === "SendStreamingMessage") rpcError(response, -32004, "Streaming is not supported");
    else {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: say.message("plain") }));
    }
  });
  assert.equal((await hold(server.url)).output, "plain");
});

test("HTTP+JSON is spoken where the card offers only that", async () => {
  const card = (url: string) => ({
    ...cardOf10(url),
    supportedInterfaces: [{ url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
  });
  await using server = await serve(card, ({ url }, response) => {
    assert.equal(url, "/rest/message:stream");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(say.message("over REST"))}\n\n`);
  });
  assert.equal((await hold(server.url)).output, "over REST");
});

test("a card of another kind only is told with what it offers", async () => {
  const card = (url: string) => ({
    ...cardOf10(url),
    supportedInterfaces: [{ url, protocolBinding: "GRPC", protocolVersion: "1.0" }],
  });
  await using server = await serve(card, () => {});
  await assert.rejects(hold(server.url), { code: "agent", message: /offers GRPC/ });
});

test("a card at the old path is found; none at all is told with what came back", async () => {
  await using old = await serve(
    (url) => ({ ...cardOf03(url), path: "/.well-known/agent.json" }),
    (_, response) => stream(response, [say.message("old path")]),
  );
  assert.equal((await hold(old.url)).output, "old path");
  await using none = await serve(
    () => null,
    (_, response) => {
      response.writeHead(503).end("busy");
    },
  );
  await assert.rejects(hold(none.url), {
    code: "agent",
    message: /agent-card\.json: HTTP 503; .*agent\.json: HTTP 503/,
  });
});

test("a card's URL that leads nowhere gives way to where the card came from", async () => {
  await using server = await serve(
    () => cardOf10("http://127.0.0.1:9/deep/path"),
    ({ url }, response) => {
      assert.equal(url, "/deep/path");
      stream(response, [say.message("found")]);
    },
  );
  assert.equal((await hold(server.url)).output, "found");
});

test("after input-required the task goes on with the next turn; a finished one is not named", async () => {
  await using server = await serve(cardOf10, (_, response, { seen }) =>
    stream(
      response,
      seen.length === 1 ? [say.task(), say.asks("Which?")] : [say.task(), say.completed("ok")],
    ),
  );
  const answer = await hold(server.url, ["order", "the red one", "thanks"]);
  assert.deepEqual(outcome(answer), { status: "completed", output: "ok", problem: null });
  const ids = server.seen.map(({ body }) => body.params?.message?.taskId);
  assert.deepEqual(ids, [undefined, "t1", undefined]);
});

test("a server that refuses the task's id is asked with the context alone", async () => {
  for (const code of [-32004, -32600, -32602, -32603]) {
    await using server = await serve(cardOf10, ({ body }, response, { seen }) => {
      if (body.params?.message?.taskId !== undefined) rpcError(response, code, "task is over");
      else stream(response, seen.length === 1 ? [say.task(), say.asks("Which?")] : [say.message("ok")]);
    });
    assert.equal((await hold(server.url, ["a", "b"])).output, "ok", String(code));
  }
});

test("a stream that ends without a final state: the task is asked for once", async () => {
  for (const [state, expected] of [
    ["TASK_STATE_COMPLETED", { status: "completed", output: "late", problem: null }],
    ["TASK_STATE_WORKING", { status: "working", output: "", problem: "ended-early" }],
  ] as const) {
    await using server = await serve(cardOf10, ({ body }, response) => {
      if (body.method !== "GetTask") stream(response, [say.task(), say.working()]);
      else {
        const message = { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "late" }] };
        response.setHeader("content-type", "application/json");
        const status = { state, ...(state === "TASK_STATE_COMPLETED" ? { message } : {}) };
        response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { id: "t1", status } }));
      }
    });
    const answer = await hold(server.url);
    assert.deepEqual(outcome(answer), expected);
    assert.equal(methods(server).filter((method) => method === "GetTask").length, 1);
  }
});

test("each way to fail is told apart from the others, and ends the attempt", async () => {
  const huge = "x".repeat(17 * 1024 * 1024);
  const faults: [string, (response: import("node:http").ServerResponse) => void, string, RegExp][] = [
    ["nothing at all", (r) => stream(r, []), "ended-early", /^EndedEarly: /],
    [
      "cut in the middle",
      (r) => {
        stream(r, [say.task()], false);
        setTimeout(() => r.destroy(), 20);
      },
      "transport",
      /^TransportError: /,
    ],
    [
      "no JSON",
      (r) => {
        r.writeHead(200, { "content-type": "text/event-stream" });
        r.end("data: {oops\n\n");
      },
      "protocol",
      /^InvalidEvent: .*oops/,
    ],
    ["no event of A2A", (r) => stream(r, [{ weather: "fine" }]), "protocol", /^UnknownEvent: .*weather/],
    [
      "an error in the stream",
      (r) => {
        r.writeHead(200, { "content-type": "text/event-stream" });
        r.end('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"kaputt"}}\n\n');
      },
      "protocol",
      /^A2AError: .*-32603: kaputt/,
    ],
    [
      "an HTTP error",
      (r) => {
        r.writeHead(500, { "content-type": "text/html" });
        r.end("<h1>Oh no</h1>");
      },
      "protocol",
      /^HttpError: HTTP 500 .*Oh no/,
    ],
    [
      "an event too large",
      (r) => {
        r.writeHead(200, { "content-type": "text/event-stream" });
        r.write(`data: ${huge}`);
        r.end("\n\n");
      },
      "oversized",
      /^OversizedEvent: /,
    ],
    ["silence", (r) => stream(r, [say.task()], false), "idle", /^TurnTimeout: .*turn_timeout_s/],
  ];
  for (const [what, fail, code, output] of faults) {
    await using server = await serve(cardOf10, (_, response) => fail(response));
    const turnTimeoutMs = code === "idle" ? 300 : 10_000;
    const answer = await hold(server.url, ["a", "never sent"], { turnTimeoutMs });
    assert.equal(answer.status, "error", what);
    assert.equal(answer.problem?.code, code, what);
    assert.match(answer.output, output, what);
    assert.equal(answer.sent.length, 1, what);
  }
});

test("an error or silence after the final state changes nothing, and is noted", async () => {
  await using error = await serve(cardOf10, (_, response) => {
    stream(response, [say.task(), say.failed("broken", "another")], false);
    response.end('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"late"}}\n\n');
  });
  const answer = await hold(error.url);
  assert.deepEqual(outcome(answer), { status: "error", output: "broken", problem: null });
  assert.match(answer.notes.join(), /After the final state: A2AError/);
  await using open = await serve(cardOf10, (_, response) =>
    stream(response, [say.task(), say.completed("done")], false),
  );
  const still = await hold(open.url, ["hi"], { turnTimeoutMs: 200 });
  assert.deepEqual(outcome(still), { status: "completed", output: "done", problem: null });
  assert.match(still.notes.join(), /not closed/);
});

test("a slow stream lives as long as it says something; the attempt's own limit ends it", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.task()], false);
    let count = 0;
    const timer = setInterval(() => {
      count += 1;
      if (count < 8) response.write(`data: ${JSON.stringify({ result: say.working(`step ${count}`) })}\n\n`);
      else {
        clearInterval(timer);
        response.end(`data: ${JSON.stringify({ result: say.completed("slow") })}\n\n`);
      }
    }, 40);
    response.on("close", () => clearInterval(timer));
  });
  assert.equal((await hold(server.url, ["hi"], { turnTimeoutMs: 200 })).output, "slow");
  const limited = await hold(server.url, ["hi"], { attemptTimeoutMs: 100 });
  assert.equal(limited.problem?.code, "timeout");
});

test("a connection that is refused says that nothing reached the agent", async () => {
  await using server = await serve(cardOf10, (_, response) => stream(response, [say.message("x")]));
  const client = await connectA2a({ url: server.url }, never);
  await server[Symbol.asyncDispose]();
  const answer = await holdConversation({
    client,
    contextId: "c",
    turns: ["hi"],
    turnTimeoutMs: 1_000,
    signal: never,
  });
  await client.close();
  assert.deepEqual([answer.problem?.code, answer.answered], ["transport", false]);
});

test("a connection closed while it lay idle is no fault of the next turn", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.message("ok")]);
    // The server hangs up right after its answer, as one with a short keep-alive does between two turns.
    response.on("close", () => response.socket?.destroy());
  });
  const answer = await hold(
    server.url,
    Array.from({ length: 20 }, () => "hi"),
  );
  assert.deepEqual(outcome(answer), { status: "completed", output: "ok", problem: null });
});

test("the end of the agent's process is told instead of the broken connection", async () => {
  const exited = new AbortController();
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.task()], false);
    setTimeout(() => response.destroy(), 20);
    setTimeout(() => exited.abort(new Error("The agent ended with exit code 7")), 60);
  });
  const answer = await hold(server.url, ["hi"], { agentExited: exited.signal });
  assert.equal(answer.problem?.code, "agent-exited");
  assert.match(answer.output, /exit code 7/);
});

test("a stopped run ends the conversation at once", async () => {
  const stop = new AbortController();
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.task()], false);
    setTimeout(() => stop.abort(new Error("stopped")), 20);
  });
  const answer = await hold(server.url, ["hi", "more"], { signal: stop.signal });
  assert.equal(answer.problem?.code, "canceled");
});

test("64 conversations at once each get their own answer", async () => {
  await using server = await serve(cardOf10, ({ body }, response) =>
    stream(response, [say.task(), say.completed(String(body.params?.message?.contextId))]),
  );
  const client = await connectA2a({ url: server.url }, never);
  const ids = Array.from({ length: 64 }, (_, i) => `c${i}`);
  const answers = await Promise.all(
    ids.map((contextId) =>
      holdConversation({ client, contextId, turns: ["a"], turnTimeoutMs: 5_000, signal: never }),
    ),
  );
  await client.close();
  assert.deepEqual(
    answers.map(({ output }) => output),
    ids,
  );
});

test("many attempts leave no listener behind", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  await using server = await serve(cardOf10, (_, response) => stream(response, [say.message("ok")]));
  const client = await connectA2a({ url: server.url }, never);
  const { signal } = new AbortController();
  const exited = new AbortController();
  for (let i = 0; i < 50; i += 1) {
    await holdConversation({
      client,
      contextId: "c",
      turns: ["a"],
      turnTimeoutMs: 5_000,
      signal,
      agentExited: exited.signal,
    });
  }
  await client.close();
  await new Promise(setImmediate);
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("a server that is no HTTP server at all is told as a broken transport", async () => {
  const raw = createServer((socket) => socket.end("SSH-2.0-nothing\r\n"));
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  const { port } = raw.address() as { port: number };
  await assert.rejects(hold(`http://127.0.0.1:${port}`), { code: "agent", message: /No agent card/ });
  raw.close();
});

test("a task that is told whole in one event gives its artifacts, or its last message", async () => {
  const whole = (more: object) => ({
    task: { id: "t1", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, ...more },
  });
  const cases: [object, string][] = [
    [whole({ artifacts: [{ artifactId: "a", parts: [{ text: "in the artifact" }] }] }), "in the artifact"],
    // Chunks that a server has kept are one text, parts of their own are lines.
    [whole({ artifacts: [{ artifactId: "a", parts: [{ text: "in " }, { text: "chunks" }] }] }), "in chunks"],
    [whole({ artifacts: [{ artifactId: "a", parts: [{ text: "One." }, { text: "Two." }] }] }), "One.\nTwo."],
    [
      whole({
        history: [
          { role: "ROLE_USER", parts: [{ text: "hi" }] },
          { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "in the history" }] },
        ],
      }),
      "in the history",
    ],
  ];
  for (const [event, output] of cases) {
    await using server = await serve(cardOf10, (_, response) => stream(response, [event]));
    assert.deepEqual(outcome(await hold(server.url)), { status: "completed", output, problem: null });
  }
});

test("a server that names the conversation itself is talked to under that name", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    const event = say.completed("ok");
    stream(response, [{ statusUpdate: { ...event.statusUpdate, contextId: "theirs" } }]);
  });
  const answer = await hold(server.url, ["a", "b"]);
  assert.equal(answer.contextId, "theirs");
  assert.match(answer.notes.join(), /calls the conversation "theirs"/);
  const sent = server.seen.map(({ body }) => body.params?.message?.contextId);
  assert.deepEqual(sent, ["c__try0", "theirs"]);
});

test("a redirect is followed, with what was sent", async () => {
  await using server = await serve(
    (url) => cardOf10(`${url}/agent`),
    ({ url, body }, response) => {
      if (url === "/agent") response.writeHead(307, { location: "/agent/" }).end();
      else stream(response, [say.message(String(body.method))]);
    },
  );
  assert.equal((await hold(server.url)).output, "SendStreamingMessage");
});

test("a card over REST may give the address of the stream itself", async () => {
  const card = (url: string) => ({
    ...cardOf10(url),
    supportedInterfaces: [
      { url: `${url}/message:stream`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
  });
  await using server = await serve(card, ({ url }, response) => {
    assert.equal(url, "/message:stream");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(say.message("ok"))}\n\n`);
  });
  assert.equal((await hold(server.url)).output, "ok");
});

test("a state that nobody knows decides nothing", async () => {
  const odd = { statusUpdate: { taskId: "t1", contextId: "c", status: { state: "TASK_STATE_PONDERING" } } };
  await using server = await serve(cardOf10, (_, response) =>
    stream(response, [say.task(), odd, say.completed("ok")]),
  );
  const answer = await hold(server.url);
  assert.deepEqual([answer.status, answer.events.length], ["completed", 2]);
});

test("an agent that never stops repeating its final state is listened to for a turn's time at most", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.completed("done")], false);
    const event = { jsonrpc: "2.0", id: 1, result: say.completed("done") };
    const timer = setInterval(() => response.write(`data: ${JSON.stringify(event)}\n\n`), 50);
    response.on("close", () => clearInterval(timer));
  });
  const answer = await hold(server.url, ["hi"], { turnTimeoutMs: 500, attemptTimeoutMs: 5_000 });
  assert.deepEqual(outcome(answer), { status: "completed", output: "done", problem: null });
  assert.ok(answer.notes.includes("The stream was not closed after its final state"));
});

test("a stream is known by its media type however that is spelt", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    response.writeHead(200, { "content-type": "Text/Event-Stream; charset=UTF-8" });
    response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: say.completed("done") })}\n\n`);
  });
  assert.deepEqual(outcome(await hold(server.url)), { status: "completed", output: "done", problem: null });
});
