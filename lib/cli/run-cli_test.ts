import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { BatError } from "../errors.ts";
import { defineCommand, type World } from "./command.ts";
import { parse } from "./parse.ts";
import { runCli } from "./run-cli.ts";
import { commandsBelow } from "./tree.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-cli-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function world(more: Partial<World> = {}): World & { out: string[]; err: string[] } {
  const out: string[] = [];
  const err: string[] = [];
  const into = (list: string[]) =>
    new Writable({
      write(chunk, _, done) {
        list.push(String(chunk));
        done();
      },
    });
  return {
    cwd: folder,
    env: {},
    stdin: Readable.from([]),
    stdout: into(out),
    stderr: into(err),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    color: false,
    columns: 80,
    signal: new AbortController().signal,
    now: () => new Date(),
    out,
    err,
    ...more,
  };
}

async function bat(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const place = world();
  const code = await runCli(argv, place);
  return { code, out: place.out.join(""), err: place.err.join("") };
}

const sample = defineCommand({
  summary: "A sample",
  group: "Test",
  args: [
    { name: "NAME", summary: "a name" },
    { name: "MORE", summary: "more", optional: true, variadic: true },
  ],
  flags: {
    port: { type: "integer", min: 1, max: 65_535, summary: "Port" },
    rate: { type: "number", min: 0, max: 1, summary: "Rate" },
    version: { type: "string", summary: "Version" },
    "model-provider": { type: "string", summary: "Provider", aliases: ["provider"] },
    task: { type: "list", summary: "Tasks" },
    k: { type: "integer", min: 1, summary: "Attempts" },
    judge: { type: "boolean", negatable: true, summary: "Judge" },
    force: { type: "boolean", short: "f", summary: "Force" },
    mode: { type: "string", choices: ["full", "outcome"], default: "full", summary: "Mode" },
  },
  run: () => Promise.resolve(),
});
const read = (...words: string[]) => parse(sample, words);
const refusal = (...words: string[]): string => {
  try {
    read(...words);
  } catch (error) {
    assert.equal((error as { code?: string }).code, "usage");
    return (error as Error).message;
  }
  throw new Error(`accepted: ${words.join(" ")}`);
};

test("a value stays the text that was typed", () => {
  for (const text of ["1.0", "007", "5", "true", "0x10", "", " a ", "-5", "ünï", "a=b"]) {
    assert.equal(read("n", "--version", text).flags.version, text);
    assert.equal(read("n", `--version=${text}`).flags.version, text);
  }
});

test("whatever a text value is, it comes out as it went in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(read("n", `--version=${text}`).flags.version, text);
      assert.deepEqual(read("n", `--task=${text}`, `--task=${text}`).flags.task, [text, text]);
    }),
  );
});

test("numbers only where the command says number, and within its limits", () => {
  assert.equal(read("n", "--port", "80").flags.port, 80);
  assert.equal(read("n", "-k", "3").flags.k, 3);
  assert.equal(read("n", "--rate", ".5").flags.rate, 0.5);
  assert.equal(refusal("n", "--port", "80a"), '--port must be an integer from 1 to 65535, got "80a"');
  assert.equal(refusal("n", "--port=0"), '--port must be an integer from 1 to 65535, got "0"');
  assert.equal(refusal("n", "-k", "1.5"), '-k must be an integer of at least 1, got "1.5"');
  assert.match(refusal("n", "--rate", "NaN"), /^--rate must be a number from 0 to 1/);
});

test("flags before and after arguments, in every spelling, and -- ends them", () => {
  assert.deepEqual(read("--force", "n", "--version", "1", "m").args, { NAME: "n", MORE: ["m"] });
  assert.equal(read("n", "--model_provider", "x").flags["model-provider"], "x");
  assert.equal(read("n", "--provider=x").flags["model-provider"], "x");
  assert.deepEqual(read("--", "--force", "-x").args, { NAME: "--force", MORE: ["-x"] });
  assert.deepEqual(
    [read("n", "--judge").flags.judge, read("n", "--no-judge").flags.judge, read("n").flags.judge],
    [true, false, undefined],
  );
  assert.equal(read("n", "-f").flags.force, true);
  assert.equal(read("n").flags.mode, "full");
});

test("what is wrong with flags and arguments is named, with the nearest known name", () => {
  assert.equal(refusal("n", "--prot", "1"), 'Unknown flag "--prot", did you mean "--port"?');
  assert.match(refusal("n", "-x"), /^Unknown flag "-x"/);
  assert.equal(
    refusal("n", "--version", "1", "--version", "2"),
    "--version was given 2 times, it can be given once",
  );
  assert.equal(refusal("n", "--version"), "--version needs a value");
  assert.equal(refusal("n", "--version", "--force"), "--version needs a value");
  assert.equal(refusal("n", "--force=yes"), '--force takes no value, got "yes"');
  assert.match(
    refusal("n", "--mode", "ful"),
    /must be one of full, outcome, got "ful", did you mean "full"\?/,
  );
  assert.equal(refusal(), "Missing argument NAME: a name");
});

test("bat alone shows help; a group alone does too, and is wrong usage", async () => {
  const alone = await bat();
  assert.deepEqual([alone.code, alone.err], [0, ""]);
  assert.match(alone.out, /bat eval run/);
  const group = await bat("eval");
  assert.deepEqual([group.code, group.out], [2, ""]);
  assert.match(group.err, /bat eval resume/);
  assert.equal((await bat("eval", "--help")).code, 0);
});

test("unknown commands and flags exit 2 with the nearest known name", async () => {
  assert.deepEqual(await bat("evla"), {
    code: 2,
    out: "",
    err: 'Error: Unknown command "evla", did you mean "eval"?\n',
  });
  assert.match((await bat("eval", "rnu")).err, /Unknown command "eval rnu", did you mean "run"\?/);
  assert.deepEqual(
    (await bat("eval", "run", "--taks", "x")).err,
    'Error: Unknown flag "--taks", did you mean "--task"?\n',
  );
  assert.equal((await bat("--wat")).code, 2);
});

test("every command answers --help with its flags, within the terminal's width", async () => {
  const commands = await commandsBelow([]);
  assert.ok(commands.length >= 8);
  for (const { path, command } of commands) {
    for (const flag of ["--help", "-h"]) {
      const { code, out } = await bat(...path, flag);
      assert.equal(code, 0, path.join(" "));
      for (const name of Object.keys(command.flags ?? {}))
        assert.ok(out.includes(name), `${path.join(" ")} ${name}`);
      const tooWide = out
        .split("\n")
        .filter((line) => line.length > 80 && !line.startsWith("  bat ") && !line.startsWith("      "));
      assert.deepEqual(tooWide, []);
    }
  }
});

test("--cwd and -C run a command as if from there, and name a folder that is not", async () => {
  assert.match((await bat("-C", "nowhere", "eval", "show")).err, /There is no folder ".*nowhere"/);
  assert.equal((await bat("eval", "show", "--cwd", folder)).code, 2);
});

test("a defect is told as one, with its stack only on demand", async () => {
  const place = world({ stdout: new PassThrough() });
  place.stdout.write = () => {
    throw new TypeError("broken pipe dream");
  };
  assert.equal(await runCli(["version"], place), 1);
  assert.match(place.err.join(""), /^Internal error: broken pipe dream\nThis is a defect of bat/);
});

test("whatever the words, bat ends with a code of its table and an explanation", async () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "eval",
      "run",
      "trace",
      "--",
      "-h",
      "--help",
      "-C",
      "--json",
      "--cwd=.",
      "version",
      "check",
      "-",
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 5 }), async (words) => {
      // Commands that would act are tried elsewhere.
      fc.pre(!words.includes("demo") && !words.includes("init"));
      const { code, out, err } = await bat(...words);
      assert.ok([0, 1, 2].includes(code));
      assert.ok(code === 0 ? out !== "" : err !== "", words.join(" "));
      assert.ok(!err.includes("Internal error"), `${words.join(" ")}: ${err}`);
    }),
    { numRuns: 300 },
  );
});

test("flags of every command may stand between the words of a command, and a forgotten value is told", async () => {
  const asked = world();
  assert.equal(await runCli(["eval", "--help", "run"], asked), 0);
  assert.match(asked.out.join(""), /^Evaluate an agent/);
  const there = world();
  assert.equal(await runCli(["eval", "-C", "nowhere", "run"], there), 2);
  assert.match(there.err.join(""), /--cwd: There is no folder/);
  const group = world();
  assert.equal(await runCli(["-C", ".", "--no-color", "eval", "--help"], group), 0);
  assert.match(group.out.join(""), /^bat eval: /);
  for (const words of [["-C"], ["eval", "--cwd"]]) {
    const forgotten = world();
    assert.equal(await runCli(words, forgotten), 2);
    assert.match(forgotten.err.join(""), /^Error: (-C|--cwd) needs a value\n$/);
  }
  const unknown = world();
  assert.equal(await runCli(["eval", "--jsn", "run"], unknown), 2);
  assert.match(unknown.err.join(""), /Unknown flag "--jsn", did you mean "--json"/);
});

test("reading spans is ended by Ctrl-C", async () => {
  writeFileSync(join(folder, "long.jsonl"), "{}\n".repeat(2_000_000));
  const controller = new AbortController();
  const there = world({ signal: controller.signal });
  const running = runCli(["trace", "long.jsonl"], there);
  setTimeout(() => controller.abort(new BatError("interrupted", "Stopped by SIGINT")), 100);
  assert.equal(await running, 130);
  assert.deepEqual(there.err, ["Error: Stopped by SIGINT\n"]);
});
