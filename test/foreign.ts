/**
 * Evaluates live agents of other people's frameworks through `bat eval run`: what they answer, remember and how they
 * fail, and what they did where they write spans. Needs Python 3.12 or 3.13 with PyPI, and npm; installs the rest.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Evaluation, leftBehind, type Task } from "./_evaluation.ts";

const agents = fileURLToPath(new URL("../fixtures/foreign-agents/", import.meta.url));
const cache = join(tmpdir(), "bat-foreign-cache");
const BOTH = "The answer is bolts: 5 in stock; nuts: 12 in stock";

interface Expected {
  /** The folder of the agent. */
  agent: string;
  /** How a tool or the model failing shows, status and text. */
  broken: [string, RegExp];
  boom: [string, RegExp];
  /** Whether the agent is one in Python, with the second tool call. */
  python: boolean;
  spans: boolean;
  /** Whether it is one of those made with an SDK of A2A alone, which know more. */
  sdk: boolean;
  env?: Record<string, string>;
}

const pythonSdk: Expected = {
  agent: "a2a-sdk-0.3",
  python: true,
  spans: false,
  sdk: true,
  broken: ["error", /^TransportError: .*cut/],
  boom: ["error", /^TransportError: .*cut/],
};
const jsSdk: Expected = {
  agent: "a2a-js-0.3",
  python: false,
  spans: false,
  sdk: true,
  broken: ["completed", /^Echo: broken tool$/],
  boom: ["error", /scripted model failure/],
};
const overRest = { TRANSPORT: "HTTP+JSON" };

const EXPECTED: Record<string, Expected> = {
  "a2a-sdk-0.3": pythonSdk,
  "a2a-sdk-0.3 over HTTP+JSON": { ...pythonSdk, env: overRest },
  "a2a-js-0.3": jsSdk,
  "a2a-js-0.3 over HTTP+JSON": { ...jsSdk, env: overRest },
  "google-adk": {
    agent: "google-adk",
    python: true,
    spans: true,
    sdk: false,
    broken: ["error", /^'nothing'$/],
    boom: ["error", /^scripted model failure$/],
  },
  "pydantic-ai-fasta2a": {
    agent: "pydantic-ai-fasta2a",
    python: true,
    spans: true,
    sdk: false,
    broken: ["error", /^$/],
    boom: ["error", /^$/],
  },
};

const tasks: Task[] = [
  {
    id: "stock",
    turns: ["stock of bolts"],
    expected: { output_must_contain: ["The answer is bolts: 5 in stock"] },
  },
  {
    id: "twice",
    turns: ["twice bolts and nuts", "what did I say"],
    expected: { output_must_contain: ["You said: twice bolts and nuts"] },
  },
  { id: "broken", turns: ["broken tool"], expected: { status: null } },
  { id: "boom", turns: ["boom"], expected: { status: "error" } },
  { id: "both", turns: ["twice bolts and nuts"] },
  { id: "count", turns: ["count"], expected: { status: "completed" } },
];

/** What the agents made with an SDK alone know beside: each way in which an answer can come. */
const sdkTasks: Task[] = [
  { id: "asks", turns: ["ask me"], expected: { status: "input-required", output_must_contain: ["colour"] } },
  {
    id: "answered",
    turns: ["ask me", "stock of nuts"],
    expected: { output_must_contain: ["The answer is nuts: 12 in stock"] },
  },
  {
    id: "bare",
    turns: ["bare", "stock of bolts"],
    expected: { output_must_contain: ["bolts: 5 in stock"] },
  },
  { id: "in-status", turns: ["in status"], expected: { output_must_contain: ["in status"] } },
];
const pythonSdkTasks: Task[] = [
  {
    id: "two-artifacts",
    turns: ["two artifacts"],
    expected: { output_must_contain: ["two artifacts", "\na note beside it"] },
  },
  { id: "reject", turns: ["reject"], expected: { status: "error", output_must_contain: ["Not my job"] } },
  { id: "slow", turns: ["slow"], expected: { output_must_contain: ["slow"] } },
];

for (const [name, expected] of Object.entries(EXPECTED)) {
  describe(name, () => {
    test("is evaluated as it stands: statuses, texts, memory, failures, spans", { timeout: 900_000 }, () => {
      const place = join(cache, expected.agent);
      mkdirSync(place, { recursive: true });
      const start = `exec sh '${join(agents, expected.agent, "run.sh")}' '${place}' "$PORT" "$BAT_SPANS_FILE"`;
      // The first start installs what the agent pins.
      const settings = {
        agent_startup_timeout_s: existsSync(join(place, "installed")) ? 90 : 800,
        turn_timeout_s: 60,
      };
      const { env = {} } = expected;
      const agent = { url: "http://127.0.0.1:0", command: ["sh", "-c", start], env };
      const decided = tasks.filter(({ id }) => id !== "broken" && id !== "both");
      if (expected.sdk) decided.push(...sdkTasks, ...(expected.python ? pythonSdkTasks : []));
      const undecided = tasks.filter((task) => !decided.includes(task));
      using evaluation = new Evaluation([...decided, ...undecided], settings, { agent });
      const { status, result, stderr } = evaluation.json("eval", "run");
      assert.equal(status, 0, `${stderr}${result.models[0]?.error ?? ""}`);
      const episode = (id: string) => evaluation.episode(`${id}__try0`);
      for (const { id } of decided) {
        const { verdict, final_output } = episode(id);
        assert.equal(verdict.passed, true, `${id}: ${verdict.reason}: ${final_output}`);
      }
      for (const id of ["broken", "boom"] as const) {
        const [state, text] = expected[id];
        assert.equal(episode(id).final_status, state, id);
        assert.match(episode(id).final_output, text, id);
      }
      if (expected.python) assert.equal(episode("both").final_output, BOTH);
      if (expected.spans) {
        const { trajectory, tool_calls } = episode("both").trace;
        assert.equal(trajectory.found, true);
        assert.deepEqual([trajectory.totals.model_calls, trajectory.totals.tool_calls], [2, 2]);
        assert.deepEqual(
          tool_calls.map((call) => call.name),
          ["lookup", "lookup"],
        );
        assert.equal(episode("broken").trace.trajectory.totals.errors, 1);
        assert.equal(episode("twice").trace.trajectory.turns[1]?.steps.length, 1);
      }
      assert.deepEqual(leftBehind(evaluation), []);
    });
  });
}
