/** Settings and flags that cannot be used are told by name. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Evaluation } from "./_evaluation.ts";

const stock = { id: "stock", turns: ["How many bolts?"], expected: { output_must_contain: ["120"] } };

test("--agent-url that is no URL is told before anything is written", () => {
  using evaluation = new Evaluation([stock]);
  for (const command of ["run", "init"]) {
    const { status, stderr } = evaluation.bat("eval", command, "--agent-url", "localhost:9900");
    assert.equal(status, 2);
    assert.match(
      stderr,
      /--agent-url must be a URL.*"localhost:9900", did you mean "http:\/\/localhost:9900"/,
    );
  }
  assert.deepEqual(evaluation.runs, []);
});

test("settings that name what is not there, or is something else, are told with their names", () => {
  using evaluation = new Evaluation([stock]);
  const file = evaluation.bat("eval", "run", "--output-dir", "eval/input/tasks.json");
  assert.equal(file.status, 2);
  assert.match(file.stderr, /^Error: --output-dir: Cannot make the folder .*there is a file of that name/);
  using nowhere = new Evaluation(
    [stock],
    {},
    { agent: { url: "http://127.0.0.1:0", command: ["x"], cwd: "gone" } },
  );
  const { status, stderr } = nowhere.bat("eval", "run");
  assert.equal(status, 2);
  assert.match(stderr, /^Error: eval\/eval\.yaml agent\.cwd: There is no folder ".*gone"/);
});

test("a virtual environment called .env is no file of variables", () => {
  using evaluation = new Evaluation([stock]);
  mkdirSync(join(evaluation.folder, ".env"));
  assert.equal(evaluation.bat("eval", "run").status, 0);
});

test("a resumed run takes no flag that says what is evaluated, and none that would not be heard", () => {
  using evaluation = new Evaluation([stock]);
  for (const flags of [["--dry-run"], ["--output-dir", "x"], ["-k", "2"]]) {
    const { status, stderr } = evaluation.bat("eval", "run", "--resume", "any", ...flags);
    assert.equal(status, 2);
    assert.match(stderr, /cannot be given with --resume/);
  }
});
