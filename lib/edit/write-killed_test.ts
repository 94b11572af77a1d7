import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Folder, failing, NOTE, WRITER } from "../../test/_writing.ts";
import { finishPending } from "./pending.ts";
import type { FileChange } from "./write.ts";

/** What a process made of a writing that it was stopped in. */
async function stopped(folder: Folder, changes: readonly FileChange[], at: number): Promise<boolean> {
  const child = spawn(process.execPath, [WRITER, folder.dir, JSON.stringify(changes), String(at)], {
    stdio: ["ignore", "ignore", "inherit"],
    // Many processes of the same program: a third of the time each.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "bat-test-compile-cache") },
  });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  return signal === "SIGKILL";
}

describe("Killed between any two steps", { concurrency: 2 }, () => {
  test("several files are all old or all new, or the note tells; the next writing ends it", async () => {
    let noted = 0;
    let killed = true;
    for (let at = 1; killed; at += 1) {
      using folder = new Folder();
      const changes: FileChange[] = [
        { path: folder.write("a", "1"), before: "1", after: "2" },
        { path: folder.write("b", "1"), before: "1", after: "2" },
        { path: folder.path("new/c"), before: null, after: "2" },
      ];
      killed = await stopped(folder, changes, at);
      const state = () =>
        ["a", "b", "new/c"].map((name) => (existsSync(folder.path(name)) ? folder.read(name) : "-")).join("");
      if (existsSync(folder.path(NOTE))) noted += 1;
      else assert.match(state(), /^(?:11-|222)$/, `stopped before step ${at}`);
      await finishPending(folder.dir);
      assert.match(state(), /^(?:11-|222)$/, `stopped before step ${at}, then finished`);
      const next = ["a", "b"].map((name) => ({
        path: folder.path(name),
        before: folder.read(name),
        after: "3",
      }));
      await folder.change(next);
      assert.equal(state().slice(0, 2), "33");
      assert.deepEqual(
        folder.all().filter((name) => name.includes(".bat-") && !name.startsWith("new/")),
        [],
        `stopped before step ${at}: nothing is left behind`,
      );
    }
    assert.ok(noted >= 4, `the note was there in ${noted} cases`);
  });

  test("of two at once one comes first", async () => {
    for (let i = 0; i < 4; i += 1) {
      using folder = new Folder();
      const names = ["a", "b", "c"];
      for (const name of names) folder.write(name, "1");
      const changes = (after: string) =>
        JSON.stringify(names.map((name) => ({ path: folder.path(name), before: "1", after })));
      const writers = ["2", "3"].map((after) =>
        spawn(process.execPath, [WRITER, folder.dir, changes(after), "0"], { stdio: "ignore" }),
      );
      await Promise.all(writers.map((child) => once(child, "exit")));
      assert.match(names.map((name) => folder.read(name)).join(""), /^(?:222|333)$/);
      assert.deepEqual(folder.all(), names);
    }
  });

  for (const cleared of [false, true]) {
    test(`also while it is taken back, what was in the way ${cleared ? "gone" : "still there"}`, async () => {
      let killed = true;
      for (let at = 1; killed; at += 1) {
        using folder = new Folder();
        killed = await stopped(folder, failing(folder), at);
        const state = () => [folder.read("a"), existsSync(folder.path("gone")) ? "2" : "-"].join("");
        if (!existsSync(folder.path(NOTE))) assert.equal(state(), "1-", `stopped before step ${at}`);
        if (cleared) rmSync(folder.path("x"), { recursive: true, force: true });
        await finishPending(folder.dir);
        assert.match(state(), cleared ? /^(?:1-|22)$/ : /^1-$/, `stopped before step ${at}, then finished`);
        assert.ok(!existsSync(folder.path("x/y")));
      }
    });
  }
});
