import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cardOf10, say, serve, stream } from "../../test/_a2a-server.ts";
import { connectA2a } from "./a2a/client.ts";
import { decodeResult } from "./a2a/decode.ts";
import { holdConversation } from "./hold.ts";
import { mapTaskState } from "./task-state.ts";

const STATES = ["working", "input-required", "completed", "error"];
const never = new AbortController().signal;

/** Values that look like what A2A says, with anything at all in some of their places. */
const wild = fc.letrec<{ value: unknown; near: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.jsonValue({ maxDepth: 1 }), tie("near"), tie("near")),
  near: fc.record(
    {
      task: tie("value"),
      statusUpdate: tie("value"),
      artifactUpdate: tie("value"),
      message: tie("value"),
      kind: fc.constantFrom("task", "status-update", "artifact-update", "message", "x"),
      status: tie("value"),
      state: fc.oneof(fc.constantFrom("completed", "TASK_STATE_WORKING", "input-required"), fc.string()),
      artifact: tie("value"),
      artifacts: fc.array(tie("value"), { maxLength: 2 }),
      history: fc.array(tie("value"), { maxLength: 2 }),
      parts: fc.array(tie("value"), { maxLength: 2 }),
      text: fc.string({ unit: "binary" }),
      role: fc.constantFrom("agent", "ROLE_AGENT", "user"),
      id: fc.string({ unit: "binary" }),
      taskId: fc.string({ unit: "binary" }),
      contextId: fc.string({ unit: "binary" }),
      append: fc.boolean(),
      error: tie("value"),
      code: fc.integer(),
      result: tie("value"),
    },
    { requiredKeys: [] },
  ),
})).value;

test("whatever a result is, it is read as events of known states or told to be none", () => {
  fc.assert(
    fc.property(wild, (value) => {
      const decoded = decodeResult(value);
      for (const event of decoded?.events ?? []) {
        assert.ok(event.kind !== "problem");
        assert.equal(typeof event.text, "string");
        if (event.kind === "status") assert.ok(STATES.includes(event.state));
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a state is known in every spelling, or not at all", () => {
  const known = {
    submitted: "working",
    working: "working",
    "input-required": "input-required",
    completed: "completed",
    failed: "error",
    canceled: "error",
    rejected: "error",
    "auth-required": "error",
  };
  for (const [state, meaning] of Object.entries(known)) {
    assert.equal(mapTaskState(state), meaning);
    assert.equal(mapTaskState(`TASK_STATE_${state.toUpperCase().replaceAll("-", "_")}`), meaning);
  }
  // Names that every object has are no states.
  for (const state of ["", "unknown", "TASK_STATE_UNSPECIFIED", "constructor", "__proto__", "toString"])
    assert.equal(mapTaskState(state), null);
});

const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  wild.map((value) => Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: value }) ?? "")),
  fc
    .array(wild, { maxLength: 4 })
    .map((values) =>
      Buffer.from(values.map((value) => `data: ${JSON.stringify({ result: value })}\n\n`).join("")),
    ),
);
const answers = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 404, 500, 503),
  type: fc.constantFrom("text/event-stream", "application/json", "text/html", ""),
  body,
  cut: fc.boolean(),
});

test("whatever a server answers, the conversation ends, and the next one is held as ever", async () => {
  let wildAnswer: { status: number; type: string; body: Buffer; cut: boolean } | null = null;
  await using server = await serve(cardOf10, (_, response) => {
    if (wildAnswer === null) return stream(response, [say.message("ok")]);
    const { status, type, cut } = wildAnswer;
    response.writeHead(status, type === "" ? {} : { "content-type": type });
    if (!cut) response.end(wildAnswer.body);
    else response.write(wildAnswer.body, () => response.destroy());
  });
  await fc.assert(
    fc.asyncProperty(answers, async (one) => {
      const client = await connectA2a({ url: server.url }, never);
      const input = { client, contextId: "c", turns: ["a", "b"], turnTimeoutMs: 120, signal: never };
      wildAnswer = one;
      const answer = await holdConversation(input);
      assert.ok(STATES.includes(answer.status));
      assert.equal(answer.sent.length, answer.windows.length);
      if (answer.problem !== null && answer.problem.code !== "ended-early")
        assert.equal(answer.status, "error");
      wildAnswer = null;
      const next = await holdConversation({ ...input, turnTimeoutMs: 3_000 });
      assert.equal(next.output, "ok");
      await client.close();
    }),
    { numRuns: 150 },
  );
});
