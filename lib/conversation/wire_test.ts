import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { serve } from "../../test/_a2a-server.ts";
import { connectA2a } from "./a2a/client.ts";
import { holdConversation } from "./hold.ts";

const wire = fileURLToPath(new URL("../../fixtures/wire/", import.meta.url));
const STATES: Record<string, string> = { failed: "error" };

interface Expected {
  status: string;
  output: string;
  cut?: boolean;
}

for (const agent of readdirSync(wire)) {
  const expected = JSON.parse(readFileSync(`${wire}${agent}/expected.json`, "utf8")) as Record<
    string,
    Expected
  >;
  const card = JSON.parse(readFileSync(`${wire}${agent}/card.json`, "utf8")) as object;
  for (const [file, { status, output, cut }] of Object.entries(expected)) {
    test(`${agent} ${file}: status and text are read as the agent meant them, however the bytes are cut`, async () => {
      const recorded = readFileSync(`${wire}${agent}/${file}`);
      const [body, isCut] = splitCut(recorded);
      for (const sizes of fc.sample(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }), 4)) {
        await using server = await serve(
          (url) => movedCard(card, url),
          (_, response) => replay(response, body, sizes, isCut),
        );
        const client = await connectA2a({ url: server.url }, new AbortController().signal);
        const turns = [file];
        const answer = await holdConversation({
          client,
          contextId: "c",
          turns,
          turnTimeoutMs: 5_000,
          signal: new AbortController().signal,
        });
        await client.close();
        assert.equal(answer.status, STATES[status] ?? status);
        if (cut === true) assert.equal(answer.problem?.code, "transport");
        else assert.equal(answer.output, output);
        assert.equal(answer.events[0]?.user_input, file);
      }
    });
  }
}

/** A last line that begins with `!` marks a connection that the server cut. */
function splitCut(recorded: Buffer): [Buffer, boolean] {
  const text = recorded.toString("latin1");
  const mark = text.lastIndexOf("\n!");
  return mark === -1 ? [recorded, false] : [recorded.subarray(0, mark + 1), true];
}

function movedCard(card: object, url: string): object {
  return JSON.parse(JSON.stringify(card).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, url)) as object;
}

async function replay(
  response: ServerResponse,
  body: Buffer,
  sizes: readonly number[],
  cut: boolean,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let at = 0, i = 0; at < body.length; i += 1) {
    const size = sizes[i % sizes.length]!;
    response.write(body.subarray(at, at + size));
    at += size;
    await new Promise(setImmediate);
  }
  if (cut) response.destroy();
  else response.end();
}
