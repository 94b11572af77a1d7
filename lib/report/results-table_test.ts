import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { modelResult, runResult, taskResult, worldWith } from "../../test/_results.ts";
import { displayWidth } from "../cli/layout.ts";
import { renderResults } from "./results-table.ts";

test("a table a model, each failure with its reason and its episode, then the totals", () => {
  const tasks = [taskResult("stock", 2, 2), taskResult("order", 1, 2)];
  assert.equal(
    renderResults(runResult([modelResult("openai:gpt", tasks)]), worldWith()),
    `openai:gpt
  Task         Passed   Rate   95 % CI  pass@2  pass^2  Tokens  Time p50
  stock           2/2  100 %  34–100 %    1.00    1.00     220     1.2 s
  order           1/2   50 %    9–91 %    1.00    0.00     220     1.2 s
  all 2 tasks     3/4   75 %   30–95 %    1.00    0.50    1100     1.2 s

Failures
  order try 1 failed
      output: missing 'x'
      eval/output/20260102_030405/m/episodes/order__try1.json

3 passed, 1 failed, of 4 attempts in 1 min 5 s
Results: eval/output/20260102_030405
`,
  );
});

test("what was not carried out is told apart from what failed, and how to go on", () => {
  const missing = {
    attempt: 1,
    outcome: "not-carried-out" as const,
    reason: "The agent ended with code 7",
    episode: "m/episodes/dies__try1.json",
  };
  const tasks = [taskResult("dies", 0, 1, { planned: 3 })];
  tasks[0]!.failures.push(missing);
  const model = modelResult("a:b", tasks, { error: "The agent died 4 times", restarts: 3 });
  const result = runResult([model], {
    state: "incomplete",
    problems: ["Model a:b failed: The agent died 4 times"],
  });
  const text = renderResults(result, worldWith());
  assert.match(text, /dies +0\/1 \(of 3\)/);
  assert.match(text, /dies try 0 failed\n/);
  assert.match(text, /dies try 1 was not carried out\n +The agent ended with code 7\n/);
  assert.match(text, /was started anew 3 times/);
  assert.match(text, /0 passed, 1 failed, 2 not carried out, of 3 attempts/);
  assert.match(text, /Go on with: bat eval resume 20260102_030405\n$/);
});

test("tasks that a stopped run did not begin are counted, not listed", () => {
  const tasks = [taskResult("done", 1, 1), ...["x", "y"].map((id) => taskResult(id, 0, 0, { planned: 1 }))];
  const text = renderResults(runResult([modelResult("a:b", tasks)], { state: "stopped" }), worldWith());
  assert.match(text, /done +1\/1 .*\n {2}all 3 tasks +1\/1 \(of 3\).*\n {2}2 of the tasks were not begun\n/);
});

test("a model of which nothing was carried out has its error in place of a table", () => {
  const model = modelResult("a:b", [taskResult("t", 0, 0, { planned: 2 })], { error: "Port 9900 is taken" });
  const text = renderResults(runResult([model], { state: "incomplete" }), worldWith());
  assert.match(text, /^a:b\n {2}Port 9900 is taken\n\n0 passed, 0 failed, 2 not carried out, of 2 attempts/);
});

test("attempts of a task that failed for one reason stand together, models are named where there are several", () => {
  const models = ["a:b", "c:d"].map((name) => modelResult(name, [taskResult("t", 0, 3)]));
  const text = renderResults(runResult(models), worldWith());
  assert.match(text, /t tries 0, 1 and 2 of a:b failed\n +output: missing 'x'\n( +eval.*\n){3}/);
  assert.match(text, /t tries 0, 1 and 2 of c:d failed\n/);
});

test("with one attempt a task there is no pass@k to tell", () => {
  assert.doesNotMatch(
    renderResults(runResult([modelResult("a:b", [taskResult("t", 1, 1)])]), worldWith()),
    /pass[@^]/,
  );
});

test("200 tasks: those that failed have their lines, the rest is counted", () => {
  const tasks = Array.from({ length: 200 }, (_, i) => taskResult(`task_${i}`, i % 20 === 0 ? 1 : 2, 2));
  const text = renderResults(runResult([modelResult("a:b", tasks)]), worldWith());
  assert.match(text, /task_180 +1\/2/);
  assert.doesNotMatch(text, /task_181/);
  assert.match(text, /… 190 tasks not shown; 190 of all passed every attempt/);
  assert.ok(text.split("\n").length < 80);
});

test("many failures: the first 20 groups are told, every other one is counted", () => {
  const tasks = Array.from({ length: 50 }, (_, i) => taskResult(`task_${i}`, 0, 30));
  for (const task of tasks) task.failures.length = 20;
  const text = renderResults(runResult([modelResult("a:b", tasks)]), worldWith());
  assert.match(text, / tries 0, 1, 2, 3, 4, 5 … 19 failed\n/);
  assert.match(text, /… and 15 more episodes\n/);
  assert.match(text, /… and 1100 more, each in its episode/);
});

for (const columns of [60, 80, 120]) {
  test(`no line of a table is wider than ${columns} columns, however long the names are`, () => {
    const tasks = [
      taskResult(`a_task_with_a_name_${"that_goes_on_".repeat(12)}`, 1, 10),
      taskResult("漢字の課題", 10, 10),
    ];
    const text = renderResults(runResult([modelResult("a:b", tasks)]), worldWith({ columns }));
    const table = text.split("\n\n")[0]!.split("\n");
    for (const line of table) assert.ok(displayWidth(line) <= columns, `${displayWidth(line)}: ${line}`);
    assert.match(table[1]!, /Task +Passed +Rate/);
    assert.equal(/Time/.test(table[1]!), columns > 60);
    assert.match(table[2]!, /^ {2}a_task_with_a_n/);
  });
}

test("words of an agent cannot command the terminal, and a long reason is cut", () => {
  const task = taskResult("t", 0, 1);
  task.failures[0]!.reason = `output: missing '\u001b]0;owned\u0007\u001b[2J'; ${"word ".repeat(1_000)}`;
  const text = renderResults(runResult([modelResult("a\u001b[31m:b", [task])]), worldWith());
  assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u);
  assert.match(text, /\n {6}…\n/);
});

test("colour is only there when the world has it, and changes no letter", () => {
  const result = runResult([modelResult("a:b", [taskResult("t", 1, 2)])]);
  const plain = renderResults(result, worldWith());
  const colored = renderResults(result, worldWith({ color: true }));
  assert.doesNotMatch(plain, /\u001b/);
  assert.match(colored, /\u001b\[31m/);
  assert.equal(stripVTControlCharacters(colored), plain);
});
