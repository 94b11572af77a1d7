import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { BatError } from "../errors.ts";
import type { CheckPlugin } from "../plugin/define.ts";
import { type Loaded, loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { totalsOf } from "../trace/steps.ts";
import { loadEvalConfig, parseEvalConfig, publicConfig } from "./config.ts";
import { loadTasks, type TaskSpec } from "./tasks.ts";
import { decide } from "./verdict.ts";

let folder = "";
let checks: Loaded<CheckPlugin>[] = [];
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "bat-input-"));
  checks = await loadPlugins("checks", pluginSources());
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function tasks(text: string | Uint8Array, name = "tasks.json"): Promise<TaskSpec[]> {
  writeFileSync(join(folder, name), text);
  return await loadTasks([name], checks, folder);
}

async function refusal(text: string | Uint8Array, name?: string): Promise<string> {
  try {
    await tasks(text, name);
  } catch (error) {
    assert.ok(error instanceof BatError, String(error));
    assert.equal(error.code, "config");
    return error.message;
  }
  throw new Error("it was accepted");
}

test("tasks in each form of file are the same tasks, with the defaults of the checks", async () => {
  const list = [
    { id: "a", turns: ["x"] },
    {
      id: "b",
      turns: ["y", "z"],
      expected: { status: null, tool_calls: [{ name: "t" }], expected_outcome: "o" },
      meta: { m: 1 },
    },
  ];
  const expected = [
    { id: "a", turns: ["x"], expected: { status: "completed" }, meta: {} },
    {
      id: "b",
      turns: ["y", "z"],
      expected: {
        status: null,
        tool_calls: [{ name: "t", args_subset: {}, times: 1 }],
        expected_outcome: "o",
      },
      meta: { m: 1 },
    },
  ];
  assert.deepEqual(await tasks(`\ufeff${JSON.stringify(list)}`), expected);
  assert.deepEqual(
    await tasks(list.map((task) => JSON.stringify(task)).join("\n\n"), "tasks.jsonl"),
    expected,
  );
  assert.deepEqual(await tasks(JSON.stringify(list), "tasks.yaml"), expected);
});

test("several datasets and globs are one list, in order, each file once", async () => {
  for (const id of ["c", "d"])
    writeFileSync(join(folder, `part-${id}.json`), JSON.stringify([{ id, turns: ["x"] }]));
  const loaded = await loadTasks(["part-d.json", "part-*.json"], checks, folder);
  assert.deepEqual(
    loaded.map(({ id }) => id),
    ["d", "c"],
  );
  await assert.rejects(loadTasks(["no-*.json"], checks, folder), { code: "config", message: /No file fits/ });
});

test("every problem of every task is told at once, with file and path", async () => {
  const message = await refusal(
    JSON.stringify([
      { id: "a", turns: [] },
      { id: " ", turns: ["x"], expcted: {} },
      { id: "c", turns: ["x", 5], expected: { tool_cals: [], status: "done", max_tokens: -1 } },
      { id: "a", turns: ["x"], expected: { tool_calls: [{ name: "t", times: 1.5 }, { nmae: "u" }] } },
      7,
    ]),
  );
  for (const part of [
    "tasks.json [0].turns: Expected at least one, found none",
    "tasks.json [1].id: Expected an id that is not empty",
    'tasks.json [1].expcted: Unknown key "expcted", did you mean "expected"?',
    "tasks.json [2].turns[1]: Expected a text, found 5",
    'tasks.json [2].expected.tool_cals: Unknown key "tool_cals", did you mean "tool_calls"?',
    'tasks.json [2].expected.status: Expected "working" or "input-required" or "completed" or "error", found "done"',
    "tasks.json [2].expected.max_tokens: Expected at least 0, found -1",
    'tasks.json [3].id: Duplicate id "a", also at tasks.json [0]',
    "tasks.json [3].expected.tool_calls[0].times: Expected a whole number, found 1.5",
    "tasks.json [3].expected.tool_calls[1].name: Missing",
    'tasks.json [3].expected.tool_calls[1].nmae: Unknown key "nmae", did you mean "name"?',
    "tasks.json [4]: Expected an object, found 7",
  ]) {
    assert.ok(message.includes(part), `${part}\nnot in\n${message}`);
  }
});

test("what is no list of tasks at all is told with the place", async () => {
  assert.match(await refusal("[{]"), /tasks\.json: Expected JSON: .*position 2/);
  assert.match(await refusal("{}"), /Expected a list of tasks, found an object/);
  assert.match(await refusal("[]"), /Expected at least one task, found none/);
  assert.match(
    await refusal('{"id":"a","turns":["x"]}\n{oops\n', "t.jsonl"),
    /t\.jsonl line 2: Expected JSON/,
  );
  assert.match(await refusal("a: [1", "t.yaml"), /t\.yaml line 1, column/);
  assert.match(
    await refusal(Uint8Array.of(0x5b, 0xff, 0x5d)),
    /tasks\.json: Expected text in UTF-8, found other bytes/,
  );
  await assert.rejects(loadTasks(["gone.json"], checks, folder), {
    message: /gone\.json: There is no such file.*bat eval init/,
  });
});

const anything = fc.oneof(
  fc.jsonValue(),
  fc.array(fc.record({ id: fc.string(), turns: fc.jsonValue(), expected: fc.jsonValue() })),
);

test("whatever a tasks file holds, it is read or refused with words", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        anything.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      fc.constantFrom("f.json", "f.jsonl", "f.yaml"),
      async (text, name) => {
        await tasks(text, name).catch((error: unknown) =>
          assert.ok(error instanceof BatError, String(error)),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("the configuration has the reference's defaults", () => {
  const config = parseEvalConfig("models: ['openai:gpt:x']", "eval.yaml");
  assert.deepEqual(
    [
      config.datasets,
      config.outputDir,
      config.startupTimeoutMs,
      config.shutdownTimeoutMs,
      config.k,
      config.runName,
    ],
    [["eval/input/tasks.json"], "eval/output", 45_000, 10_000, 1, "benchmark"],
  );
  assert.deepEqual(config.models, [{ provider: "openai", model: "gpt:x", baseUrl: null, env: {} }]);
  assert.deepEqual(
    [config.concurrency, config.turnTimeoutMs, config.agentRestarts, config.retries],
    [1, 180_000, 3, 0],
  );
  assert.equal(parseEvalConfig("evaluation:\nmodels: ['openai:x']", "e").k, 1);
});

test("every problem of eval.yaml is told at once, with line, column and the nearest known name", () => {
  const text =
    "evaluation:\n  datset: x\n  k: 0\n  concurrency: two\nmodels:\n  - openi:x\n  - {provider: openai}\nagent: {url: 'ftp://x'}\njudge: {provider: openai, model: m, mode: fast}\n";
  assert.throws(
    () => parseEvalConfig(text, "eval.yaml"),
    (error: BatError) => {
      for (const part of [
        'evaluation.datset (line 2, column 11): Unknown key "datset", did you mean "dataset"?',
        "evaluation.k (line 3, column 6): Expected at least 1, found 0",
        'evaluation.concurrency (line 4, column 16): Expected a number, found "two"',
        'models[0].provider (line 6, column 5): Unknown provider "openi", did you mean "openai"?',
        "models[1].model (line 7, column 5): Missing",
        'agent.url (line 8, column 14): Expected a URL with http or https, found "ftp://x"',
        'judge.mode (line 9, column 43): Expected "full" or "outcome", found "fast"',
      ]) {
        assert.ok(error.message.includes(part), `${part}\nnot in\n${error.message}`);
      }
      return error.code === "config";
    },
  );
});

test("a command is a list of words, or a text that is split like a shell's", () => {
  const words = (command: string) =>
    parseEvalConfig(JSON.stringify({ models: ["openai:x"], agent: { command } }), "e").agent.command;
  assert.deepEqual(words(`node "a b" 'c d'e  --x="y z"`), ["node", "a b", "c de", "--x=y z"]);
});

test("what is shown of a configuration holds no value of a variable", () => {
  const text = JSON.stringify({
    models: [{ provider: "openai", model: "m", env: { OPENAI_API_KEY: "sk-canary" } }],
    agent: { command: "x", env: { TOKEN: "sk-canary" } },
    judge: { provider: "openai", model: "m", env: { K: "sk-canary" } },
  });
  const shown = JSON.stringify(publicConfig(parseEvalConfig(text, "e")));
  assert.ok(!shown.includes("sk-canary") && shown.includes("OPENAI_API_KEY"));
});

test("whatever eval.yaml holds, it is read or refused with words", () => {
  const value = fc.record(
    { evaluation: fc.jsonValue(), models: fc.jsonValue(), agent: fc.jsonValue(), judge: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        value.map((one) => JSON.stringify(one)),
        fc.string(),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        try {
          parseEvalConfig(text, "eval.yaml");
        } catch (error) {
          assert.ok(error instanceof BatError, String(error));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("a limit of null is none, and is not asked for", async () => {
  const [task] = await tasks(
    JSON.stringify([{ id: "a", turns: ["x"], expected: { max_tokens: null, max_model_calls: null } }]),
  );
  const nothing = { found: false, turns: [], truncated: false };
  const decided = {
    status: "completed",
    output: "",
    trajectory: { ...nothing, totals: totalsOf([]) },
  } as const;
  assert.equal(decide(task!.expected, decided, checks).reason, "status: 'completed'");
});

test("a command without words or with an open quote, and a place to ask that is none, are told", () => {
  const refused = (agent: object) => {
    try {
      parseEvalConfig(JSON.stringify({ agent, models: ["scripted:one"] }), "e");
    } catch (error) {
      return (error as Error).message;
    }
    return "accepted";
  };
  assert.match(
    refused({ command: "  " }),
    /agent\.command .*Expected a command with its quotes closed, found " {2}"/,
  );
  assert.match(refused({ command: "run 'it" }), /agent\.command .*quotes closed, found "run 'it"/);
  assert.equal(refused({ command: `run "it's" 'a "b"'` }), "accepted");
  assert.match(refused({ ready: "ftp://x" }), /agent\.ready .*Expected a path, or a URL with http or https/);
  assert.equal(refused({ ready: "/health" }), "accepted");
});

test("a configuration that is a folder, or no UTF-8, is told as that", async () => {
  const place = mkdtempSync(join(folder, "config-"));
  mkdirSync(join(place, "eval", "eval.yaml"), { recursive: true });
  await assert.rejects(loadEvalConfig(place), { code: "config", message: /Expected a file, found a folder/ });
  rmSync(join(place, "eval", "eval.yaml"), { recursive: true });
  writeFileSync(join(place, "eval", "eval.yaml"), Buffer.from("models: [openai:caf\xe9]", "latin1"));
  await assert.rejects(loadEvalConfig(place), { code: "config", message: /Expected text in UTF-8/ });
});

test("the protocol's version may be written as YAML reads it: a number", () => {
  const version = (text: string) =>
    parseEvalConfig(`agent: {protocol_version: ${text}}\nmodels: ["scripted:one"]`, "e").protocolVersion;
  assert.deepEqual(["1.0", "0.3", "'1.0'", "1"].map(version), ["1.0", "0.3", "1.0", "1.0"]);
  assert.throws(() => version("2.0"), /agent\.protocol_version .*found 2$/);
});

test("a name that is empty is told as that", async () => {
  const message = await refusal(
    JSON.stringify([{ id: "a", turns: ["x"], expected: { tool_calls: [{ name: "" }] } }]),
  );
  assert.match(message, /\[0\]\.expected\.tool_calls\[0\]\.name: Expected a text that is not empty/);
});

test("an agent's address with a password is refused, and never shown", () => {
  const text = JSON.stringify({ models: ["openai:x"], agent: { url: "http://u:canary-pass@h/x" } });
  assert.throws(
    () => parseEvalConfig(text, "e"),
    (error: Error) => {
      assert.match(error.message, /agent\.url .*Expected a URL without user and password/);
      return !error.message.includes("canary");
    },
  );
});
