import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { cardOf10, rpcError, say, serve, stream } from "../../test/_a2a-server.ts";
import { hold, outcome } from "../../test/_hold.ts";
import { connectA2a } from "./a2a/client.ts";
import { holdConversation } from "./hold.ts";

const never = new AbortController().signal;
const done = (output: string) => ({ status: "completed", output, problem: null });

function json(response: ServerResponse, result: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
}

test("a stream that is not closed after its final state does not keep the next turn from being held", async () => {
  await using server = await serve(cardOf10, (_, response, { seen }) =>
    stream(response, [say.task(), say.completed(`answer ${seen.length}`)], false),
  );
  const answer = await hold(server.url, ["a", "b", "c"], { turnTimeoutMs: 150 });
  assert.deepEqual(outcome(answer), done("answer 3"));
  assert.equal(answer.notes.filter((note) => note.includes("not closed")).length, 3);
});

test("a process that the request itself ended is told as ended, on a kept connection too", async () => {
  const exited = new AbortController();
  await using server = await serve(cardOf10, async (_, response, own) => {
    if (own.seen.length === 1) return stream(response, [say.message("ok")]);
    exited.abort(new Error("The agent ended with exit code 9"));
    await own[Symbol.asyncDispose]();
  });
  const answer = await hold(server.url, ["a", "b"], { agentExited: exited.signal });
  assert.equal(answer.problem?.code, "agent-exited");
  assert.match(answer.output, /exit code 9/);
  assert.equal(answer.answered, true);
});

test("a reset before any byte on a new connection is told as that, and as no answer", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    response.socket?.resetAndDestroy();
  });
  const answer = await hold(server.url);
  assert.deepEqual([answer.problem?.code, answer.answered, answer.status], ["transport", false, "error"]);
  assert.match(answer.output, /was reset/);
});

test("conversations that begin at once all find out what version the server speaks", async () => {
  await using server = await serve(cardOf10, ({ body }, response) => {
    if (body.method === "message/stream") stream(response, [say.message("ok")]);
    else rpcError(response, -32601, "Method not found");
  });
  const client = await connectA2a({ url: server.url }, never);
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      holdConversation({ client, contextId: `c${i}`, turns: ["a"], turnTimeoutMs: 5_000, signal: never }),
    ),
  );
  assert.deepEqual([client.facts.version, client.facts.streaming], ["0.3", true]);
  await client.close();
  assert.ok(answers.every(({ output }) => output === "ok"));
});

test("a message that names a task which nobody told of is a whole answer", async () => {
  const message = { message: { ...say.message("bare").message, taskId: "t9" } };
  await using server = await serve(cardOf10, (_, response) => stream(response, [message]));
  const answer = await hold(server.url, ["a", "b"]);
  assert.deepEqual(outcome(answer), done("bare"));
  assert.deepEqual(
    server.seen.map(({ body }) => body.method),
    ["SendStreamingMessage", "SendStreamingMessage"],
  );
});

test("artifacts without any state are an answer, and the conversation goes on", async () => {
  await using server = await serve(cardOf10, ({ body }, response) => {
    if (body.method === "GetTask") rpcError(response, -32001, "Task not found");
    else stream(response, [say.artifact("said")]);
  });
  const answer = await hold(server.url, ["a", "b"]);
  assert.deepEqual(outcome(answer), done("said"));
  assert.equal(answer.sent.length, 2);
  assert.match(answer.notes[0] ?? "", /without a final state; the last one told is "completed"/);
});

test("the task that asked goes on, though another was told of first", async () => {
  const asks = { statusUpdate: { ...say.asks("Which?").statusUpdate, taskId: "t2" } };
  await using server = await serve(cardOf10, (_, response, { seen }) =>
    stream(response, seen.length === 1 ? [say.task(), asks] : [say.message("ok")]),
  );
  await hold(server.url, ["a", "b"]);
  assert.equal(server.seen[1]?.body.params?.message?.taskId, "t2");
});

test("a task that goes on may first be told as it stood, and then take its time", async () => {
  await using server = await serve(cardOf10, (_, response, { seen }) => {
    const stood = { task: { ...say.task("TASK_STATE_INPUT_REQUIRED").task } };
    stream(response, seen.length === 1 ? [say.task(), say.asks("Which?")] : [stood], seen.length === 1);
    const rest = `data: ${JSON.stringify({ result: say.completed("red it is") })}\n\n`;
    // Longer than a stream is listened to after its final state.
    if (seen.length > 1) setTimeout(() => response.end(rest), 2_200);
  });
  assert.deepEqual(
    outcome(await hold(server.url, ["a", "red"], { turnTimeoutMs: 8_000 })),
    done("red it is"),
  );
});

test("a single result for an answer that was to be a stream is followed until the task is done", async () => {
  await using server = await serve(cardOf10, ({ body }, response, { seen }) => {
    const { task } = say.task(seen.length < 4 ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED");
    json(
      response,
      body.method === "GetTask"
        ? { ...task, artifacts: [{ artifactId: "a", parts: [{ text: "late" }] }] }
        : { task },
    );
  });
  assert.deepEqual(outcome(await hold(server.url)), done("late"));
});

test("a run that is stopped does not wait for the next time a task would be asked for", async () => {
  const stop = new AbortController();
  let stopped = 0;
  await using server = await serve(
    (url) => cardOf10(url, { capabilities: {} }),
    (_, response, { seen }) => {
      json(response, seen.length === 1 ? say.task() : say.task().task);
      if (seen.length !== 5) return;
      stopped = performance.now();
      stop.abort(new Error("stopped"));
    },
  );
  const answer = await hold(server.url, ["a"], { signal: stop.signal });
  assert.equal(answer.problem?.code, "canceled");
  assert.ok(performance.now() - stopped < 300);
});

test("a redirect to no address is told as that", async () => {
  for (const location of ["http://[", "ftp://files.example/agent"]) {
    await using server = await serve(cardOf10, (_, response) => {
      response.writeHead(307, { location }).end();
    });
    const answer = await hold(server.url);
    assert.equal(answer.problem?.code, "transport");
    assert.match(answer.output, /redirects to .* no address of the web/);
  }
});

test("redirects in a circle end", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    response.writeHead(307, { location: "/again" }).end();
  });
  assert.match((await hold(server.url)).output, /^HttpError: HTTP 307/);
});

test("an error that speaks of UUIDs says what to set", async () => {
  const details = [{ loc: ["contextId"], msg: "Input should be a valid UUID" }];
  const answers: ((response: ServerResponse) => void)[] = [
    (r) => rpcError(r, -32602, "contextId must be a UUID"),
    (r) => {
      r.writeHead(422, { "content-type": "application/json" });
      r.end(JSON.stringify({ detail: details }));
    },
    (r) => {
      r.writeHead(200, { "content-type": "application/json" });
      r.end(JSON.stringify({ error: { code: -32602, message: "Invalid", data: details } }));
    },
  ];
  for (const answer of answers) {
    await using server = await serve(cardOf10, (_, response) => answer(response));
    assert.match((await hold(server.url)).output, /set agent\.context_id: uuid$/);
  }
});

test("events that hold nothing and comments keep a connection, and are no answer", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data:\n\n: ping\n\nevent: ping\ndata: \n\n");
    response.end(`data: ${JSON.stringify({ result: say.message("ok") })}\n\n`);
  });
  assert.deepEqual(outcome(await hold(server.url)), done("ok"));
  await using silent = await serve(cardOf10, (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(": ping\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  });
  assert.equal((await hold(silent.url, ["a"], { turnTimeoutMs: 200 })).problem?.code, "idle");
});

test("a stream that never ends is ended by the attempt's limit", async () => {
  await using server = await serve(cardOf10, (_, response) => {
    stream(response, [say.task()], false);
    const event = `data: ${JSON.stringify({ result: say.working("and on") })}\n\n`;
    const more = () => {
      while (!response.destroyed && response.write(event));
    };
    response.on("drain", more);
    more();
  });
  const answer = await hold(server.url, ["a", "b"], { attemptTimeoutMs: 200 });
  assert.deepEqual([answer.problem?.code, answer.events.length, answer.sent.length], ["timeout", 200, 1]);
});

test("an answer that grows beyond all bounds is given up", async () => {
  const part = "x".repeat(15 * 1024 * 1024);
  await using server = await serve(cardOf10, (_, response) =>
    stream(
      response,
      Array.from({ length: 5 }, () => say.artifact(part, { append: true })),
    ),
  );
  const answer = await hold(server.url);
  assert.equal(answer.problem?.code, "oversized");
  assert.match(answer.output, /^OversizedAnswer: /);
});

test("a text in a great many pieces is put together in time that grows with the pieces", async () => {
  const pieces = 30_000;
  await using server = await serve(cardOf10, (_, response) => {
    const events = Array.from({ length: pieces }, () => say.artifact("x", { append: true }));
    stream(response, [say.task(), ...events, say.completed()]);
  });
  const answer = await hold(server.url);
  assert.deepEqual(outcome(answer), done("x".repeat(pieces)));
  assert.ok(answer.wallMs < 5_000);
});

test("an agent whose process had ended before is not waited for", async () => {
  const gone = AbortSignal.abort(new Error("The agent ended with exit code 3"));
  await using server = await serve(cardOf10, () => {});
  const answer = await hold(server.url, ["a"], { agentExited: gone, turnTimeoutMs: 60_000 });
  assert.equal(answer.problem?.code, "agent-exited");
});
