/**
 * The live view on a real terminal: `bat` runs on a pseudo-terminal that `script` (of util-linux) makes, and what that
 * terminal shows is looked at.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { before, test } from "node:test";
import { BAT, Evaluation, untilGone } from "./_evaluation.ts";
import { Screen } from "./_screen.ts";

before(() => {
  const found = spawnSync("script", ["--version"], { encoding: "utf8" });
  assert.match(
    found.stdout ?? "",
    /util-linux/,
    "These tests need `script` of util-linux (Debian: package bsdutils, Fedora: util-linux-script)",
  );
});

/** A command on a pseudo-terminal, and the screen that shows what it writes. */
class Session implements Disposable {
  readonly screen: Screen;
  readonly #script: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  #tty = "";

  constructor(folder: string, args: readonly string[], { columns = 80, rows = 24, env = {} } = {}) {
    this.screen = new Screen(columns, rows);
    const quoted = [process.execPath, BAT, ...args].map((one) => `'${one}'`).join(" ");
    // The shell too is sent what Ctrl-C sends: it must live to tell the exit code.
    const command = `trap : INT; stty rows ${rows} cols ${columns}; tty; ${quoted}; echo "exit $?"`;
    this.#script = spawn("script", ["-qfec", command, "/dev/null"], {
      cwd: folder,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#exited = once(this.#script, "exit");
    this.#script.stdout!.setEncoding("utf8").on("data", (text: string) => this.screen.write(text));
  }

  async shows(pattern: RegExp): Promise<void> {
    for (let tries = 0; !pattern.test(this.screen.text); tries += 1) {
      if (tries > 1_500) throw new Error(`${pattern} is not on the screen:\n${this.screen.text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#tty = /\/dev\/\S+/.exec(this.screen.text)?.[0] ?? "";
  }

  type(text: string): void {
    this.#script.stdin!.write(text);
  }

  /** Makes the terminal narrower or wider, as dragging its window does. */
  resize(columns: number): void {
    execFileSync("stty", ["-F", this.#tty, "cols", String(columns)]);
    this.screen.reflow(columns);
  }

  async end(): Promise<string> {
    await this.#exited;
    return this.screen.text;
  }

  [Symbol.dispose](): void {
    this.#script.kill("SIGKILL");
  }
}

const tasks = Array.from({ length: 12 }, (_, i) => ({
  id: `order_${i}`,
  turns: ["sleep 400 How many bolts?"],
  expected: { output_must_contain: [i % 4 === 3 ? "no such words" : "120"] },
}));
const settings = { concurrency: 3, agent_shutdown_timeout_s: 2 };

test("one block is drawn again in place, and the results take its place", async () => {
  using evaluation = new Evaluation(tasks, settings);
  using session = new Session(evaluation.folder, ["eval", "run"], { columns: 100, rows: 30 });
  await session.shows(/order_\d+ try 0 … \d+ ms/);
  await session.shows(/ [3-9]\/12 scripted:one {2}\d passed/);
  assert.equal(session.screen.text.match(/of 12 attempts after/g)?.length, 1);
  await session.shows(/order_3 try 0 failed in .*: output: missing 'no such words'/);
  const text = await session.end();
  assert.match(text, /^\/dev\/\S+\nRun \S+: .*12 attempts, 3 at once\nscripted:one\n {2}Task +Passed/);
  assert.match(text, /9 passed, 3 failed, of 12 attempts/);
  assert.match(text, /exit 0\n$/);
  assert.doesNotMatch(text, /█|░|…/);
  assert.deepEqual(session.screen.unknown, []);
});

test("a window that is made narrower and wider again is left clean", async () => {
  using evaluation = new Evaluation(tasks, settings);
  using session = new Session(evaluation.folder, ["eval", "run"], { columns: 100, rows: 30 });
  await session.shows(/ [3-9]\/12 scripted/);
  session.resize(50);
  await session.shows(/ [6-9]\/12 scripted/);
  assert.equal(session.screen.text.match(/of 12 attempts after/g)?.length, 1, session.screen.text);
  session.resize(90);
  const text = await session.end();
  assert.doesNotMatch(text, /█|░/);
  assert.match(text, /exit 0\n$/);
});

test("Ctrl-C is answered at once, ends with 130 and leaves a clean screen and no process", async () => {
  using evaluation = new Evaluation(tasks, settings);
  using session = new Session(evaluation.folder, ["eval", "run"]);
  await session.shows(/ [3-9]\/12 scripted/);
  session.type("\u0003");
  await session.shows(/Stopping the agent; what is finished is kept/);
  const text = await session.end();
  assert.match(text, /exit 130\n$/);
  assert.match(text, /\d not carried out, of 12 attempts/);
  assert.match(text, /Go on with: bat eval resume/);
  assert.doesNotMatch(text, /█|░/);
  assert.deepEqual(await untilGone(evaluation), []);
});

test("NO_COLOR: the view is drawn, without a colour", async () => {
  using evaluation = new Evaluation(tasks.slice(0, 3), settings);
  let bytes = "";
  using session = new Session(evaluation.folder, ["eval", "run"], { env: { NO_COLOR: "1" } });
  const write = session.screen.write.bind(session.screen);
  session.screen.write = (text) => {
    bytes += text;
    write(text);
  };
  await session.shows(/order_0 try 0 …/);
  await session.end();
  assert.match(bytes, /\u001b\[\d+A/);
  assert.doesNotMatch(bytes, /\u001b\[[0-9;]*m/);
});
