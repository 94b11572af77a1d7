import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { Evaluation, exitOf, leftBehind, untilGone } from "./_evaluation.ts";

const stock = {
  id: "stock",
  turns: ["How many bolts?"],
  expected: { output_must_contain: ["120"], no_errors: true },
};
const wrong = { id: "wrong", turns: ["How many bolts?"], expected: { output_must_contain: ["121"] } };

test("a run keeps every episode, its totals balance, and nothing of it is left running", () => {
  using evaluation = new Evaluation([stock, wrong], { k: 3, concurrency: 2 });
  const { status, result } = evaluation.json("eval", "run");
  assert.equal(status, 0);
  assert.deepEqual(
    [result.state, result.planned, result.carried_out, result.passed, result.failed],
    ["complete", 6, 6, 3, 3],
  );
  assert.equal(
    evaluation.episode("wrong__try2").verdict.reason,
    "status: 'completed'; output: missing '121'",
  );
  assert.equal(evaluation.episode("stock__try0").trace.tool_calls[0]?.name, "stock");
  assert.deepEqual(leftBehind(evaluation), []);
});

test("a gate is asked for: without one failed checks are no failure of the run", () => {
  using evaluation = new Evaluation([stock, wrong]);
  assert.equal(evaluation.bat("eval", "run", "--fail-under", "0.5").status, 0);
  const { status, stdout } = evaluation.bat("eval", "run", "--fail-under", "0.51");
  assert.equal(status, 1);
  assert.match(stdout, /below --fail-under 0\.51/);
});

test("bad input is told before anything starts: exit 2, every problem, nothing written", () => {
  using evaluation = new Evaluation([
    { ...stock, expected: { tool_cals: [] } },
    { id: "", turns: [] },
  ]);
  const { status, stdout, stderr } = evaluation.bat("eval", "run");
  assert.deepEqual([status, stdout, evaluation.runs], [2, "", []]);
  assert.match(stderr, /\[0\]\.expected\.tool_cals.*did you mean "tool_calls"/);
  assert.match(stderr, /\[1\]\.id.*[\s\S]*\[1\]\.turns/);
});

test("results that cannot be written end the run, which goes on when that is mended", () => {
  using evaluation = new Evaluation([stock, wrong]);
  const blocked = join(evaluation.folder, "eval", "plugins", "checks");
  mkdirSync(blocked, { recursive: true });
  // A check that puts a folder where the second episode is to be written.
  writeFileSync(
    join(blocked, "block.ts"),
    `import { mkdirSync, readdirSync } from "node:fs";
     import { defineCheck } from "bat-toolkit";
     import * as v from "valibot";
     export default defineCheck({
       apiVersion: 1, title: "Block", field: "block", schema: v.string(), order: 1,
       run: ({ expected }) => {
         const output = process.cwd() + "/eval/output/";
         if (!process.env.MENDED) mkdirSync(output + readdirSync(output)[0] + "/benchmark_scripted-one/episodes/" + expected + "__try0.json/x", { recursive: true });
         return { ok: true, reason: "block" };
       },
     });`,
  );
  evaluation.tasks([
    { ...stock, expected: { block: "wrong" } },
    { ...wrong, expected: { block: "wrong" } },
  ]);
  const stopped = evaluation.bat("eval", "run");
  assert.equal(stopped.status, 1);
  assert.match(stopped.stderr, /Cannot write results: .*bat eval resume/);
  assert.deepEqual(leftBehind(evaluation), []);
  process.env.MENDED = "1";
  const resumed = evaluation.json("eval", "resume");
  delete process.env.MENDED;
  assert.deepEqual([resumed.status, resumed.result.state, resumed.result.passed], [0, "complete", 2]);
});

test("tasks, models, k, shards and names from the command line", () => {
  using evaluation = new Evaluation([stock, wrong, { id: "other", turns: ["Hello"] }]);
  const { result } = evaluation.json(
    "eval",
    "run",
    "--task",
    "st*",
    "--task",
    "other",
    "-k",
    "2",
    "--model",
    "scripted:x",
    "--run-name",
    "trial",
  );
  assert.deepEqual(
    result.models[0]?.tasks.map(({ task_id }) => task_id),
    ["stock", "other"],
  );
  assert.deepEqual([result.planned, result.models[0]?.folder], [4, "trial_scripted-x"]);
  const shards = ["1/2", "2/2"].map(
    (shard) => evaluation.json("eval", "run", "--shard", shard).result.planned,
  );
  assert.deepEqual(shards, [2, 1]);
  const dry = evaluation.bat("eval", "run", "--dry-run");
  assert.match(dry.stdout, /3 task\(s\) × 1 = 3/);
  assert.equal(evaluation.runs.length, 3);
  const unknown = evaluation.bat("eval", "run", "--task", "stokc");
  assert.deepEqual([unknown.status, /did you mean "stock"/.test(unknown.stderr)], [2, true]);
});

test("an agent that dies ends its attempt with exit code and last words, and the rest goes on", () => {
  using evaluation = new Evaluation([stock, { id: "dies", turns: ["die"] }, { ...stock, id: "after" }]);
  const { status, result, stderr } = evaluation.json("eval", "run");
  assert.equal(status, 0);
  assert.deepEqual([result.state, result.passed, result.failed], ["complete", 2, 1]);
  assert.equal(result.models[0]?.restarts, 1);
  const { final_status, final_output, aux } = evaluation.episode("dies__try0");
  assert.equal(final_status, "error");
  assert.match(final_output, /^AgentExited: .*exit code 7/);
  assert.equal(aux.outcome, "carried-out");
  assert.equal(stderr, "");
});

test("an agent that keeps dying: what could not be carried out is said so and is no failed answer", () => {
  using evaluation = new Evaluation([{ id: "dies", turns: ["die"] }, stock], { k: 3, agent_restarts: 1 });
  const { status, result } = evaluation.json("eval", "run");
  assert.equal(status, 1);
  assert.deepEqual(
    [result.state, result.planned, result.carried_out, result.passed, result.failed],
    ["incomplete", 6, 2, 0, 2],
  );
  const { aux, verdict, final_output } = evaluation.episode("stock__try0");
  assert.equal(aux.outcome, "not-carried-out");
  assert.match(verdict.reason, /^eval error: .*agent_restarts/);
  assert.match(final_output, /^<eval error: /);
  const summary = evaluation.read<{ attempts: object[]; not_carried_out: number }>(
    "benchmark_scripted-one",
    "summary.json",
  );
  assert.equal(summary.not_carried_out, 4);
});

test("a model whose agent cannot start is told, and the next model is evaluated", () => {
  using evaluation = new Evaluation(
    [stock],
    {},
    {
      models: [{ provider: "scripted", model: "bad", env: { PORT: "1", HOST: "256.0.0.1" } }, "scripted:one"],
    },
  );
  const { status, result } = evaluation.json("eval", "run");
  assert.equal(status, 1);
  assert.match(result.models[0]?.error ?? "", /stopped before it was ready \(exit code 1\)/);
  assert.deepEqual([result.models[1]?.passed, result.carried_out, result.planned], [1, 1, 2]);
});

test("a port that is taken is told before the start, and the stranger on it is left alone", async () => {
  const requests: string[] = [];
  const stranger = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const { port } = stranger.address() as { port: number };
  using evaluation = new Evaluation(
    [stock],
    {},
    { agent: { url: `http://127.0.0.1:${port}`, command: [process.execPath, "-e", "1"] } },
  );
  const child = evaluation.start("eval", "run");
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  assert.equal((await exitOf(child)).code, 1);
  assert.match(errors, new RegExp(`:${port}.*taken`));
  assert.deepEqual(requests, []);
  await new Promise((resolve) => stranger.close(resolve));
});

test("an agent that runs already is evaluated by its URL and goes on running", async () => {
  using evaluation = new Evaluation([
    { id: "hi", turns: ["hi"], expected: { output_must_contain: ["echo"] } },
  ]);
  const agent = createServer((request, response) => {
    if (request.method === "GET") {
      const { port } = agent.address() as { port: number };
      const url = `http://127.0.0.1:${port}`;
      response.end(
        JSON.stringify({
          name: "x",
          supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
          capabilities: {},
        }),
      );
      return;
    }
    request.resume();
    const message = { role: "ROLE_AGENT", messageId: "m", parts: [{ text: "echo" }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { message } }));
  });
  await new Promise<void>((resolve) => agent.listen(0, "127.0.0.1", resolve));
  const { port } = agent.address() as { port: number };
  const child = evaluation.start("eval", "run", "--agent-url", `http://127.0.0.1:${port}`);
  assert.equal((await exitOf(child)).code, 0);
  assert.equal(evaluation.episode("hi__try0").verdict.passed, true);
  assert.ok(agent.listening);
  agent.closeAllConnections();
  await new Promise((resolve) => agent.close(resolve));
});

test("retries are for attempts that never reached the agent, and only those", async () => {
  using evaluation = new Evaluation(
    [{ id: "hi", turns: ["hi"] }, wrong],
    { retries: 2 },
    { agent: { url: "http://127.0.0.1:1" } },
  );
  const unreachable = evaluation.json("eval", "run");
  assert.equal(unreachable.status, 1);
  assert.match(unreachable.result.models[0]?.error ?? "", /No agent card/);
  using answered = new Evaluation([wrong], { retries: 2 });
  answered.json("eval", "run");
  const starts = readFileSync(answered.file("journal.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes("attempt-started"));
  assert.equal(starts.length, 1);
});

test("a budget stops the run cleanly, and a resumed run with a larger one ends it", () => {
  using evaluation = new Evaluation(
    [stock, { ...stock, id: "two" }, { ...stock, id: "three" }],
    {},
    { budget: { max_tokens: 100 } },
  );
  const { status, result } = evaluation.json("eval", "run");
  assert.equal(status, 1);
  assert.equal(result.state, "stopped");
  assert.match(result.problems[0] ?? "", /budget\.max_tokens/);
  assert.equal(result.carried_out, 2);
  const file = join(evaluation.folder, "eval", "eval.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace('"max_tokens":100', '"max_tokens":10000'));
  const resumed = evaluation.json("eval", "resume");
  assert.deepEqual([resumed.status, resumed.result.state, resumed.result.passed], [0, "complete", 3]);
});

test("--fail-fast begins nothing new after the first failure", () => {
  using evaluation = new Evaluation([
    wrong,
    ...Array.from({ length: 40 }, (_, i) => ({ ...stock, id: `s${i}` })),
  ]);
  const { status, result } = evaluation.json("eval", "run", "--fail-fast");
  assert.equal(status, 1);
  assert.equal(result.carried_out, 1);
});

test("a run that was stopped is refused when tasks or source have changed, unless forced", () => {
  using evaluation = new Evaluation([stock, wrong]);
  evaluation.json("eval", "run");
  evaluation.tasks([stock, { ...wrong, turns: ["How many washers?"] }]);
  writeFileSync(join(evaluation.folder, "agent.py"), "new");
  const refused = evaluation.bat("eval", "resume");
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /task "wrong" has changed; the agent's source has changed: new agent\.py/);
  assert.equal(evaluation.bat("eval", "resume", "--force").status, 0);
  assert.match(readFileSync(evaluation.file("journal.jsonl"), "utf8"), /"forced":\["task/);
});

test("the report for CI systems tells failures and what was not carried out apart", () => {
  using evaluation = new Evaluation(
    [
      stock,
      { id: "a<b>&\"'\u0007", turns: ["How many bolts?"], expected: { output_must_contain: ["<no>"] } },
      { id: "dies", turns: ["die"] },
      { ...stock, id: "last" },
    ],
    { agent_restarts: 0 },
  );
  evaluation.bat("eval", "run", "--junit", "report.xml");
  const xml = readFileSync(join(evaluation.folder, "report.xml"), "utf8");
  assert.match(xml, /<testsuites name="bat \d+_\d+" tests="4" failures="2" errors="1">/);
  assert.match(xml, /a&lt;b&gt;&amp;&quot;'\ufffd try 0/);
  assert.equal(xml.match(/<failure /g)?.length, 2);
  assert.equal(xml.match(/<error /g)?.length, 1);
});

test("a check of the project's own is one file, and decides", () => {
  using evaluation = new Evaluation([{ ...stock, expected: { max_output_chars: 5 } }]);
  mkdirSync(join(evaluation.folder, "eval", "plugins", "checks"), { recursive: true });
  writeFileSync(
    join(evaluation.folder, "eval", "plugins", "checks", "max-output-chars.ts"),
    `import { defineCheck } from "bat-toolkit";
     import * as v from "valibot";
     export default defineCheck({
       apiVersion: 1, title: "Length", field: "max_output_chars", schema: v.number(), order: 200,
       run: ({ expected, output }) => ({ ok: output.length <= expected, reason: \`length: \${output.length as number}\` }),
     });`,
  );
  const { result } = evaluation.json("eval", "run");
  assert.match(result.models[0]?.tasks[0]?.failures[0]?.reason ?? "", /^length: \d+$/);
});

test("Ctrl-C stops the agent, keeps what is finished and exits with 130; resuming gives what an undisturbed run gives", async () => {
  const tasks = Array.from({ length: 12 }, (_, i) => ({
    id: `t${i}`,
    turns: [`sleep 60 How many bolts?`],
    expected: { output_must_contain: ["120"] },
  }));
  using whole = new Evaluation(tasks);
  whole.json("eval", "run");
  using evaluation = new Evaluation(tasks);
  const child = evaluation.start("eval", "run");
  await untilFinished(evaluation, 3);
  child.kill("SIGINT");
  assert.equal((await exitOf(child)).code, 130);
  assert.deepEqual(leftBehind(evaluation), []);
  const { status, result } = evaluation.json("eval", "resume");
  assert.deepEqual([status, result.state, result.passed], [0, "complete", 12]);
  assert.deepEqual(evaluation.normalised(), whole.normalised());
});

test("kill -9 at any instant: nothing is lost, nothing is there twice, no process is left", {
  timeout: 240_000,
}, async () => {
  const tasks = Array.from({ length: 8 }, (_, i) => ({
    id: `t${i}`,
    turns: ["sleep 15 I need bolts", "7"],
    expected: { tool_calls: [{ name: "reserve", args_subset: { count: 7 } }] },
  }));
  const settings = { k: 2, concurrency: 3, agent_shutdown_timeout_s: 2 };
  using whole = new Evaluation(tasks, settings);
  whole.json("eval", "run");
  const expected = whole.normalised();
  for (let i = 0; i < 20; i += 1) {
    using evaluation = new Evaluation(tasks, settings);
    const child = evaluation.start("eval", "run");
    await new Promise((resolve) => setTimeout(resolve, 250 + Math.random() * 900));
    child.kill("SIGKILL");
    await exitOf(child);
    if (
      existsSync(join(evaluation.folder, "eval", "output")) &&
      evaluation.runs.length > 0 &&
      existsSync(evaluation.file("run.json"))
    ) {
      const { status, result, stderr } = evaluation.json("eval", "resume");
      assert.deepEqual([status, result.state, result.problems], [0, "complete", []], stderr);
      assert.deepEqual(evaluation.normalised(), expected);
    }
    assert.deepEqual(await untilGone(evaluation), []);
  }
});

async function untilFinished(evaluation: Evaluation, count: number): Promise<void> {
  for (;;) {
    const journal = evaluation.runs.length > 0 ? evaluation.file("journal.jsonl") : "";
    const finished = existsSync(journal)
      ? (readFileSync(journal, "utf8").match(/attempt-finished/g)?.length ?? 0)
      : 0;
    if (finished >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
