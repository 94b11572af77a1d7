import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { describe, test } from "node:test";
import { Folder, failing, NOTE, WRITER } from "../../test/_writing.ts";
import type { FileChange } from "./write.ts";

describe("Writing files", () => {
  test("all are written, nothing else is left", async () => {
    using folder = new Folder();
    const a = folder.write("a", "1");
    const same = folder.write("same", "s");
    const written = await folder.change([
      { path: a, before: "1", after: "2" },
      { path: same, before: "s", after: "s" },
      { path: folder.path("deep/er/new"), before: null, after: "n", mode: 0o755 },
    ]);
    assert.deepEqual(written, ["a", "deep/er/new"]);
    assert.deepEqual(folder.all(), ["a", "deep", "deep/er", "deep/er/new", "same"]);
    assert.equal(folder.read("a") + folder.read("deep/er/new"), "2n");
    assert.equal(statSync(folder.path("deep/er/new")).mode & 0o111, 0o111);
  });

  test("permissions stay, and links stay links", async () => {
    using folder = new Folder();
    chmodSync(folder.write("real", "1"), 0o640);
    symlinkSync("real", folder.path("link"));
    await folder.change([{ path: folder.path("link"), before: "1", after: "2" }]);
    assert.ok(lstatSync(folder.path("link")).isSymbolicLink());
    assert.equal(folder.read("real"), "2");
    assert.equal(statSync(folder.path("real")).mode & 0o777, 0o640);
  });

  test("a dry run shows the difference and writes nothing", async () => {
    using folder = new Folder();
    const a = folder.write("a", "1\n");
    const run = folder.change(
      [
        { path: a, before: "1\n", after: "2\n" },
        { path: folder.path("new/b"), before: null, after: "x" },
      ],
      true,
    );
    assert.deepEqual(await run, ["a", "new/b"]);
    assert.equal(
      run.shown(),
      "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-1\n+2\n--- /dev/null\n+++ b/new/b\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n",
    );
    assert.deepEqual(folder.all(), ["a"]);
  });

  const refusals: Record<string, (folder: Folder) => { change: FileChange; message: RegExp }> = {
    "a file that was changed meanwhile": (folder) => ({
      change: { path: folder.write("b", "other"), before: "b", after: "c" },
      message: /Cannot write b: it was changed meanwhile\. All files are as they were/,
    }),
    "a link in the way of a new file": (folder) => {
      symlinkSync("nowhere", folder.path("b"));
      return {
        change: { path: folder.path("b"), before: null, after: "c" },
        message: /there is something of that name by now\. All files are as they were/,
      };
    },
    "a link to nothing": (folder) => {
      symlinkSync("nowhere", folder.path("b"));
      return {
        change: { path: folder.path("b"), before: "b", after: "c" },
        message: /ENOENT.* All files are as they were/,
      };
    },
    "a file where a folder is wanted": (folder) => {
      folder.write("b", "");
      return {
        change: { path: folder.path("b/c"), before: null, after: "c" },
        message: /(?:EEXIST|ENOTDIR).* All files are as they were/,
      };
    },
    "a folder where a file is wanted": (folder) => {
      mkdirSync(folder.path("b"));
      return {
        change: { path: folder.path("b"), before: "", after: "c" },
        message: /it is no file\. All files are as they were/,
      };
    },
  };
  for (const [name, prepare] of Object.entries(refusals)) {
    test(`refused, with nothing written: ${name}`, async () => {
      using folder = new Folder();
      const a = folder.write("a", "1");
      const { change, message } = prepare(folder);
      const before = folder.all();
      const changes = [
        { path: a, before: "1", after: "2" },
        { path: folder.path("new/x"), before: null, after: "x" },
        change,
      ];
      await assert.rejects(folder.change(changes), { code: "config", message });
      assert.deepEqual(folder.all(), before);
      assert.equal(folder.read("a"), "1");
    });
  }

  test("what fails when some are in place is taken back", async () => {
    using folder = new Folder();
    await assert.rejects(folder.change(failing(folder)), {
      message: /^Cannot write a, gone, x, x\/y: .*All files are as they were$/,
    });
    assert.deepEqual(folder.all(), ["a"]);
    assert.equal(folder.read("a"), "1");
  });

  test("a note of another's, or of one who still writes, moves nothing", async () => {
    using folder = new Folder();
    const a = folder.write("a", "1");
    const change = [{ path: a, before: "1", after: "2" }];
    const rows = (temporary: string) =>
      JSON.stringify({ way: "forward", files: [{ target: "a", temporary, backup: null }] });
    for (const [text, message] of [
      ["nonsense", /Cannot read .*\.bat-pending\.json, which notes an unfinished writing/],
      [rows("../../etc/passwd"), /Cannot read/],
      [rows(`.a.bat-${process.ppid}-1.new`), /Another bat \(process \d+\) is writing/],
    ] as const) {
      folder.write(NOTE, text);
      await assert.rejects(folder.change(change), { code: "config", message });
      assert.equal(folder.read("a"), "1");
    }
  });
});

describe("A disk that does not take it", () => {
  test("a folder that cannot be written to", async (t) => {
    using folder = new Folder();
    const a = folder.write("a", "1");
    chmodSync(folder.dir, 0o555);
    const change = JSON.stringify([{ path: a, before: "1", after: "2" }]);
    const root = process.getuid?.() === 0;
    // Root may write everywhere: then someone else tries.
    if (root) chownSync(a, 65_534, 65_534);
    const as = root ? { uid: 65_534, gid: 65_534 } : {};
    const ran = spawnSync(process.execPath, [WRITER, folder.dir, change, "0"], { encoding: "utf8", ...as });
    if (root && /EACCES.*(?:_writer|node)|Cannot find/.test(ran.stderr) && !/Cannot write/.test(ran.stderr)) {
      t.skip("another user cannot read this checkout");
      return;
    }
    assert.match(ran.stderr, /Cannot write a: EACCES.*All files are as they were/);
    assert.equal(folder.read("a"), "1");
    assert.deepEqual(folder.all(), ["a"]);
  });

  test("no room for the last of several files", () => {
    using folder = new Folder();
    const changes = [
      { path: folder.write("a", "1"), before: "1", after: "2" },
      { path: folder.write("b", "1"), before: "1", after: "x".repeat(100_000) },
    ];
    // A limit of 64 KiB a file; the signal that tells of it is ignored, as on a full disk there is none.
    const line = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`;
    const words = ["-c", line, process.execPath, WRITER, folder.dir, JSON.stringify(changes), "0"];
    const ran = spawnSync("bash", words, { encoding: "utf8" });
    assert.match(ran.stderr, /Cannot write a, b: EFBIG.*All files are as they were/);
    assert.equal(folder.read("a") + folder.read("b"), "11");
    assert.deepEqual(folder.all(), ["a", "b"]);
  });
});
