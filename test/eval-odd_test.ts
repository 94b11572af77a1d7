/** Odd agents, spans and ends of a run: none takes the results of others along. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { RunResult } from "../lib/eval/observer.ts";
import { serve } from "./_a2a-server.ts";
import { BAT, Evaluation, exitOf, leftBehind } from "./_evaluation.ts";

const FLEETING = fileURLToPath(new URL("../fixtures/agents/fleeting.mjs", import.meta.url));
const stock = { id: "stock", turns: ["How many bolts?"], expected: { output_must_contain: ["120"] } };

test("an agent that closes its port before it ends costs the attempts after it nothing", () => {
  const tasks = ["a", "b", "c"].map((id) => ({ id, turns: ["x"] }));
  const agent = { url: "http://127.0.0.1:0", command: [process.execPath, FLEETING] };
  using evaluation = new Evaluation(tasks, {}, { agent });
  const { status, result } = evaluation.json("eval", "run");
  assert.deepEqual([status, result.state, result.passed], [0, "complete", 3]);
  assert.deepEqual(leftBehind(evaluation), []);
});

test("an agent that takes the connection and never shows its card ends the model, not the patience", async () => {
  await using server = await serve(
    () => null,
    () => {},
  );
  using evaluation = new Evaluation([stock], { agent_startup_timeout_s: 1 }, { agent: { url: server.url } });
  const child = evaluation.start("eval", "run");
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  assert.equal((await exitOf(child)).code, 1);
  assert.match(
    stderr,
    /did not answer with its agent card within 1 s \(evaluation\.agent_startup_timeout_s\)/,
  );
});

test("a report that cannot be written does not take the shown result along", () => {
  using evaluation = new Evaluation([{ id: "dir", turns: ["How many bolts?"] }]);
  const plugins = join(evaluation.folder, "eval", "plugins", "reporters");
  mkdirSync(plugins, { recursive: true });
  writeFileSync(join(plugins, "broken.ts"), "export default 5;");
  const { status, stdout } = evaluation.bat("eval", "run", "--junit", "report.xml");
  assert.equal(status, 2);
  assert.match(stdout, /1 passed/);
});

test("times that no calendar has are shown, and a span nested without end is passed over", () => {
  using evaluation = new Evaluation([stock]);
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  const root = {
    name: "r",
    trace_id: "ab",
    span_id: "b0",
    start_time: 1e29,
    end_time: 1e29,
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "q" },
  };
  const tool = {
    name: "t",
    trace_id: "ab",
    span_id: "b1",
    parent_span_id: "b0",
    start_time: 1e29,
    attributes: { "openinference.span.kind": "TOOL", "input.value": `{"a":${deep}}`, "output.value": deep },
  };
  const odd = JSON.stringify({ ...tool, span_id: "b2" }).replace(
    '"t"',
    `"t","attributes":{"metadata":${deep}}`,
  );
  const file = join(evaluation.folder, "spans.jsonl");
  writeFileSync(file, [tool, root].map((span) => JSON.stringify(span)).join("\n"));
  const list = evaluation.bat("trace", file);
  assert.deepEqual([list.status, /^q +1 +\d{20,}$/m.test(list.stdout)], [0, true], list.stderr);
  writeFileSync(file, `${odd}\n${readFileSync(file, "utf8")}`);
  const { status, stdout, stderr } = evaluation.bat("trace", file, "--conversation", "q");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /\[tool t\]/);
});

test("a report and logs beside the source are no change of it", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run", "--junit", "report.xml");
  writeFileSync(join(evaluation.folder, "run.log"), "");
  const { status, stderr } = evaluation.bat("eval", "resume", "--junit", "report.xml");
  assert.equal(status, 0, stderr);
});

test("output that the disk does not take is told, and fails", { skip: !existsSync("/dev/full") }, () => {
  using evaluation = new Evaluation([stock]);
  const script = '"$0" "$1" eval run --dry-run > /dev/full';
  const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, BAT], {
    cwd: evaluation.folder,
    encoding: "utf8",
  });
  assert.deepEqual([status, /^Error: Cannot write the output: ENOSPC.*\n$/.test(stderr)], [1, true], stderr);
});

test("a budget that the last attempt uses up has stopped nothing", () => {
  using evaluation = new Evaluation([stock], {}, { budget: { max_tokens: 1 } });
  const { status, result } = evaluation.json("eval", "run");
  assert.deepEqual([status, result.state, result.problems], [0, "complete", []]);
});

test("verdicts that are decided anew and written stand in every result file, result.json too", () => {
  using evaluation = new Evaluation([{ id: "hello", turns: ["Hello"] }]);
  assert.equal(evaluation.json("eval", "run").result.passed, 1);
  evaluation.tasks([{ id: "hello", turns: ["Hello"], expected: { output_must_contain: ["never said"] } }]);
  const result = () => evaluation.read<RunResult>("result.json");
  assert.equal(evaluation.bat("eval", "check").status, 0);
  assert.equal(result().passed, 1);
  assert.equal(evaluation.bat("eval", "check", "--write").status, 0);
  assert.deepEqual([result().passed, result().failed, result().models[0]!.tasks[0]!.passed], [0, 1, 0]);
  const summary = evaluation.read<{ passed: number }>("benchmark_scripted-one", "summary.json");
  assert.equal(summary.passed, 0);
});
