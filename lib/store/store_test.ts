import assert from "node:assert/strict";
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { AtomicFile, digestOf, writeFileAtomic } from "./atomic.ts";
import { fileNames } from "./file-names.ts";
import { type BaseFact, Journal, readJournal } from "./journal.ts";
import { RunFolder, readRun } from "./run-folder.ts";
import { sourceDifferences, sourceDigest } from "./source-digest.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "bat-store-"));
});
after(() => rm(folder, { recursive: true, force: true }));

interface Note extends BaseFact {
  fact: "note";
  text: string;
}
const now = () => new Date("2026-01-02T03:04:05Z");
const asIs = (value: unknown) => value as { id: string };

test("an atomic file appears whole, with the digest of its bytes", async () => {
  const file = join(folder, "whole.json");
  const digest = await writeFileAtomic(file, "ünï");
  assert.equal(await readFile(file, "utf8"), "ünï");
  assert.equal(digest, digestOf("ünï"));
});

test("an atomic file that is not committed leaves nothing and keeps what was there", async () => {
  const place = await mkdtemp(join(folder, "abandoned-"));
  await writeFile(join(place, "a"), "old");
  const half = async () => {
    await using file = await AtomicFile.create(join(place, "a"));
    await file.write("x".repeat(200_000));
    throw new Error("stopped in the middle");
  };
  await assert.rejects(half());
  assert.deepEqual(await readdir(place), ["a"]);
  assert.equal(await readFile(join(place, "a"), "utf8"), "old");
});

test("facts come back in the order they were appended, whatever was awaited", async () => {
  const file = join(folder, "order.jsonl");
  const texts = Array.from({ length: 500 }, (_, i) => `note ${i}`);
  {
    await using journal = await Journal.open<Note>(file, 0, now);
    await Promise.all(texts.map((text, i) => journal.append({ fact: "note", text }, { sync: i % 3 === 0 })));
  }
  const { facts } = await readJournal<Note>(file);
  assert.deepEqual(
    facts.map((fact) => fact.text),
    texts,
  );
});

test("a journal cut anywhere gives the facts before the cut and goes on from there", async () => {
  const lines = ["one", "två", "three 🎉"].map(
    (text) => `${JSON.stringify({ at: "t", fact: "note", text })}\n`,
  );
  const whole = Buffer.from(lines.join(""));
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const file = join(folder, `cut-${cut}.jsonl`);
    await writeFile(file, whole.subarray(0, cut));
    const before = await readJournal<Note>(file);
    {
      await using journal = await Journal.open<Note>(file, before.bytes, now);
      await journal.append({ fact: "note", text: "later" });
    }
    const { facts } = await readJournal<Note>(file);
    assert.deepEqual(
      facts.map((fact) => fact.text),
      [...before.facts.map((fact) => fact.text), "later"],
    );
  }
});

test("damage before the last line is told with file and line", async () => {
  const file = join(folder, "damaged.jsonl");
  await writeFile(
    file,
    '{"at":"t","fact":"note","text":"a"}\n{"at":"t","fa\n{"at":"t","fact":"note","text":"b"}\n',
  );
  await assert.rejects(readJournal(file), { code: "store", message: /damaged\.jsonl line 2/ });
  await writeFile(file, "[]\n");
  await assert.rejects(readJournal(file), { code: "store", message: /line 1/ });
});

test("a run's folder keeps plan, artifacts and facts, and is held by one", async () => {
  const directory = join(folder, "run");
  {
    await using run = await RunFolder.create<{ id: string }, Note>(directory, { id: "r1" }, now);
    await run.ensureFolder("episodes");
    await run.keep("episodes/a.json", "{}", (digest) => ({ fact: "note", text: digest }) as Omit<Note, "at">);
    await assert.rejects(RunFolder.open(directory, asIs, now), { code: "store" });
  }
  await appendFile(join(directory, "journal.jsonl"), '{"at":"torn');
  const { plan, facts } = await readRun<{ id: string }, Note>(directory, asIs);
  assert.equal(plan.id, "r1");
  assert.deepEqual(facts, [{ at: "2026-01-02T03:04:05.000Z", fact: "note", text: digestOf("{}") }]);
  const opened = await RunFolder.open<{ id: string }, Note>(directory, asIs, now);
  await opened.folder[Symbol.asyncDispose]();
  assert.ok(!(await readFile(join(directory, "journal.jsonl"), "utf8")).includes("torn"));
});

test("a folder without a plan is told as no run", async () => {
  await assert.rejects(readRun(folder, asIs), { code: "store", message: /not the folder of a run/ });
});

test("file names are safe, and all different whatever the ids", () => {
  assert.deepEqual(fileNames(["draft wrong/args", "a.b-c_D"]), ["draft_wrong_args", "a.b-c_D"]);
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.string(), fc.constantFrom("a b", "a/b", "A_B", "..", "."))),
      (ids) => {
        const names = fileNames(ids);
        assert.equal(new Set(names.map((name) => name.toLowerCase())).size, ids.length);
        for (const name of names) assert.match(name, /^(?!\.+$)[A-Za-z0-9_.-]{1,255}$/);
      },
    ),
  );
});

test("the source digest sees changes of source and none of caches, results and secrets", async () => {
  const root = await mkdtemp(join(folder, "source-"));
  const { mkdir } = await import("node:fs/promises");
  for (const path of ["src", "eval/output", ".venv", "__pycache__"])
    await mkdir(join(root, path), { recursive: true });
  await writeFile(join(root, "src/graph.py"), "one");
  const first = await sourceDigest(root);
  for (const path of [
    ".env",
    ".env.local",
    "eval/output/x.json",
    ".venv/lib.py",
    "__pycache__/a.pyc",
    "uv.lock",
  ]) {
    await writeFile(join(root, path), "x");
  }
  assert.deepEqual(await sourceDigest(root), first);
  await writeFile(join(root, "src/graph.py"), "two");
  await writeFile(join(root, "src/new.py"), "");
  const second = await sourceDigest(root);
  assert.ok(first.digest !== null && second.digest !== null && first.digest !== second.digest);
  assert.deepEqual(sourceDifferences(first.files, second.files), ["changed src/graph.py", "new src/new.py"]);
});

test("a source that is not there has the digest of nothing", async () => {
  const { digest, files } = (await sourceDigest(join(folder, "nowhere"))) as {
    digest: string;
    files: object;
  };
  assert.deepEqual([digest.length, files], [64, {}]);
});
