import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../bin/bat.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bat-demo-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function bat(cwd: string, ...args: string[]) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" };
  return spawnSync(process.execPath, [bin, ...args], { cwd, encoding: "utf8", env });
}

test("the demo runs, one task fails, and the command that it recommends shows why", () => {
  const cwd = mkdtempSync(join(folder, "run-"));
  const { status, stdout, stderr } = bat(cwd, "demo");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /stock +2\/2/);
  assert.match(stdout, /too_many tries 0 and 1 failed\n +tool_call:reserve: called 0×, expected ≥1×\n/);
  assert.match(stderr, /\[6\/6\]/);
  const advice = /^ +bat (trace .*)$/m.exec(stdout)?.[1] ?? "";
  const trace = bat(cwd, ...advice.split(" "));
  assert.equal(trace.status, 0, trace.stderr);
  assert.match(trace.stdout, /12 brackets in stock/);
  assert.doesNotMatch(trace.stdout, /reserve\(/);
});

test("a second demo takes another folder, and a folder that is there is never touched", () => {
  const cwd = mkdtempSync(join(folder, "twice-"));
  mkdirSync(join(cwd, "bat-demo"));
  const { status, stdout } = bat(cwd, "demo", "--json");
  assert.equal(status, 0);
  assert.equal((JSON.parse(stdout) as { failed: number }).failed, 2);
  assert.deepEqual(readdirSync(cwd), ["bat-demo", "bat-demo-2"]);
  assert.deepEqual(readdirSync(join(cwd, "bat-demo")), []);
  const refused = bat(cwd, "demo", "--output-dir", "bat-demo");
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /is there already; give another --output-dir/);
  assert.deepEqual(readdirSync(join(cwd, "bat-demo")), []);
  const placed = bat(cwd, "demo", "-o", join("deep", "er"), "--json");
  assert.equal(placed.status, 0);
  assert.ok(existsSync(join(cwd, "deep", "er", "eval", "eval.yaml")));
});
