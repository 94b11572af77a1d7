/** Holds the agent to its promises without a model, and so without a key: npm test */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { MockLanguageModelV4 } from "ai/test";
import { answer, withSpans } from "../src/agent.ts";

test("gives a message to the model and its answer back", async () => {
  const asked: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      asked.push(JSON.stringify(prompt.at(-1)));
      return {
        content: [{ type: "text", text: "Good day" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
          inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 2, text: 2, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
  assert.equal(await answer("test", "Hello", withSpans(model)), "Good day");
  assert.match(asked[0] ?? "", /Hello/);
});

test("the card says what the agent can do", () => {
  const card = JSON.parse(readFileSync(new URL("../agent.json", import.meta.url), "utf8"));
  assert.ok(card.description);
  assert.ok(card.skills.length > 0);
});
