import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { acquireLock } from "./lock.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "bat-lock-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const holderScript = (target: string) =>
  `const { acquireLock } = await import(${JSON.stringify(new URL("./lock.ts", import.meta.url).href)});
   await acquireLock(${JSON.stringify(target)}); console.log("held"); setInterval(() => {}, 1000);`;

async function startHolder(target: string) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", holderScript(target)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

test("a folder has one writer, and the second is told who holds it", async () => {
  const target = await mkdtemp(join(folder, "two-"));
  await using _held = await acquireLock(target);
  await assert.rejects(acquireLock(target), { code: "store", message: new RegExp(`process ${process.pid}`) });
});

test("a released lock can be taken again", async () => {
  const target = await mkdtemp(join(folder, "again-"));
  for (let i = 0; i < 3; i += 1) await (await acquireLock(target))[Symbol.asyncDispose]();
  assert.equal((await readdir(join(target, ".lock"))).length, 1);
});

test("a lock that a killed process left is taken over", async () => {
  const target = await mkdtemp(join(folder, "stale-"));
  const child = await startHolder(target);
  await assert.rejects(acquireLock(target), new RegExp(`process ${child.pid}`));
  child.kill("SIGKILL");
  await once(child, "exit");
  await using _held = await acquireLock(target);
});

test("of many that take over from a dead holder at once, one wins", async () => {
  const target = await mkdtemp(join(folder, "race-"));
  const child = await startHolder(target);
  child.kill("SIGKILL");
  await once(child, "exit");
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => acquireLock(target)));
  assert.equal(answers.filter((answer) => answer.status === "fulfilled").length, 1);
});
