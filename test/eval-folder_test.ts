/** Folders of runs that were moved, renamed, or are half there. */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Evaluation } from "./_evaluation.ts";

const stock = { id: "stock", turns: ["How many bolts?"], expected: { output_must_contain: ["120"] } };

test("what the file system refuses is no defect of bat", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run");
  rmSync(evaluation.file("journal.jsonl"));
  mkdirSync(evaluation.file("journal.jsonl"));
  const { status, stderr } = evaluation.bat("eval", "resume");
  assert.equal(status, 1);
  assert.match(stderr, /^Error: EISDIR: .*\n$/);
});

test("the newest run is the one begun last, whatever the folders are called", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run");
  const first = evaluation.file();
  renameSync(first, join(dirname(first), "zzz-baseline"));
  const second = evaluation.json("eval", "run").result.run;
  const { stdout } = evaluation.bat("eval", "check", "--json");
  assert.equal((JSON.parse(stdout) as { run: string }).run, second);
});

test("a run killed before the list of its source was written is not resumed on another source", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run");
  rmSync(evaluation.file("source.json"));
  writeFileSync(join(evaluation.folder, "graph.py"), "");
  const { status, stderr } = evaluation.bat("eval", "resume");
  assert.equal(status, 2);
  assert.match(stderr, /^Error: Cannot resume run .*the agent's source has changed/);
});

test("a finished attempt whose episode is gone from disk is run anew", () => {
  using evaluation = new Evaluation([stock, { ...stock, id: "other" }]);
  evaluation.bat("eval", "run");
  rmSync(evaluation.file("benchmark_scripted-one", "episodes", "stock__try0.json"));
  const { status, result, stderr } = evaluation.json("eval", "resume");
  assert.deepEqual([status, result.state, result.passed, result.problems], [0, "complete", 2, []]);
  assert.match(stderr, /1 finished attempts have no episode on disk any more/);
  rmSync(evaluation.file("benchmark_scripted-one"), { recursive: true });
  assert.equal(evaluation.json("eval", "resume").result.passed, 2);
});

test("a run that was moved is read from its agent's folder", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run");
  renameSync(evaluation.file(), join(evaluation.folder, "moved.log"));
  const moved = evaluation.bat("eval", "check", "moved.log");
  assert.equal(moved.status, 0, moved.stderr);
  assert.equal(evaluation.bat("eval", "resume", "moved.log").status, 0);
  mkdirSync(join(evaluation.folder, "elsewhere"));
  const lost = evaluation.bat("-C", "elsewhere", "eval", "check", "../moved.log");
  assert.equal(lost.status, 2);
  assert.match(lost.stderr, /The agent of the run is not where it was .*; go to its folder/);
});

test("--force is not offered where it cannot help", () => {
  using evaluation = new Evaluation([stock, { ...stock, id: "other" }]);
  evaluation.bat("eval", "run");
  evaluation.tasks([stock]);
  const { status, stderr } = evaluation.bat("eval", "resume");
  assert.equal(status, 2);
  assert.match(stderr, /it would not be the same run: task "other" is gone\n$/);
});

test("a journal with what is no slot is told, and does not balance", () => {
  using evaluation = new Evaluation([stock]);
  evaluation.bat("eval", "run");
  appendFileSync(evaluation.file("journal.jsonl"), '{"at":"now","fact":"attempt-finished"}\n');
  const { status, result } = evaluation.json("eval", "resume");
  assert.equal(status, 1);
  assert.deepEqual(result.problems, [
    "Totals do not balance: the journal has an attempt that was not planned: undefined",
  ]);
});
