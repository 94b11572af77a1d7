import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { parseLine } from "./parse-line.ts";
import type { NamedConvention } from "./record.ts";
import { type ConversationQuery, SpanIndex } from "./span-index.ts";
import { everyStep } from "./steps.ts";
import type { Json } from "./trajectory.ts";

const golden = fileURLToPath(new URL("../../fixtures/golden/otel/", import.meta.url));

interface ExpectedTurn {
  user: string;
  model_calls: number;
  tokens_in: number;
  tokens_out: number;
  tool_calls: { name: string; args: Json; result: string | null; error: string | null }[];
  errors: number;
}
interface Expected {
  conversations: { context_id: string; turns: ExpectedTurn[] }[];
}

let conventions: NamedConvention[] = [];
before(async () => {
  conventions = await loadPlugins("conventions", pluginSources());
});

const frameworks = readdirSync(golden, { withFileTypes: true }).filter((entry) => entry.isDirectory());
for (const { name } of frameworks) {
  test(`${name}: steps, tokens, tool calls and failures are what the agents did`, async () => {
    const expected = JSON.parse(readFileSync(`${golden}${name}/expected.json`, "utf8")) as Expected;
    const file = `${golden}${name}/spans.jsonl`;
    const index = new SpanIndex([file], conventions);
    await index.readAll();
    const windows = turnWindows(file);
    for (const { context_id: conversation, turns } of expected.conversations) {
      const query: ConversationQuery = {
        conversation,
        turns: turns.map(({ user }) => user),
        windows: turns.map(() => windows.shift()!),
      };
      const { trajectory } = index.trajectory(query);
      assert.equal(trajectory.found, true, conversation);
      assert.equal(trajectory.matched, name === "pydantic-ai" ? "time" : undefined, conversation);
      const actual = trajectory.turns.map(({ user, steps }) => {
        const all = [...everyStep(steps)];
        const models = all.filter((step) => step.kind === "model");
        const sum = (key: "tokens_in" | "tokens_out") => models.reduce((total, step) => total + step[key], 0);
        return {
          user,
          model_calls: models.length,
          tokens_in: sum("tokens_in"),
          tokens_out: sum("tokens_out"),
          tool_calls: all
            .filter((step) => step.kind === "tool")
            .map((step) => ({ name: step.name, args: step.args, result: step.result, error: step.error })),
          errors: all.filter((step) => step.error !== null).length,
        };
      });
      assert.deepEqual(actual, turns.map(pick), conversation);
    }
    index.close();
  });
}

function pick({ user, model_calls, tokens_in, tokens_out, tool_calls, errors }: ExpectedTurn): ExpectedTurn {
  return { user, model_calls, tokens_in, tokens_out, tool_calls, errors };
}

/** When each turn was held, as the runner of the talks would know it: from the start of its trace to the next one's. */
function turnWindows(file: string): { from: bigint; to: bigint }[] {
  const starts = new Map<string, bigint>();
  const matters = new Set<string>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    for (const span of parseLine(line) ?? []) {
      const known = starts.get(span.traceId);
      if (known === undefined || span.startTime < known) starts.set(span.traceId, span.startTime);
      if (Object.keys(span.attributes).some((key) => key.startsWith("gen_ai."))) matters.add(span.traceId);
    }
  }
  const sorted = [...starts]
    .filter(([id]) => matters.has(id))
    .map(([, start]) => start)
    .sort((a, b) => (a < b ? -1 : 1));
  return sorted.map((from, i) => ({ from, to: (sorted[i + 1] ?? from + 10n ** 12n) - 1n }));
}
