import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCli } from "../lib/cli/run-cli.ts";

const BAT = fileURLToPath(new URL("../bin/bat.ts", import.meta.url));

/** How a command ended. */
export interface Ran {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** A folder with files of a project, in which `bat` runs as a process; gone with `using`. */
export class ProjectFolder implements Disposable {
  readonly dir: string;
  readonly #bin: string;
  readonly #log: string;

  /** @param given files by path below the folder */
  constructor(given: Readonly<Record<string, string>>, encoding: BufferEncoding = "utf8") {
    const base = mkdtempSync(join(tmpdir(), "bat-project-"));
    this.dir = join(base, "work");
    this.#bin = join(base, "bin");
    this.#log = join(base, "docker.log");
    mkdirSync(this.dir);
    for (const [path, text] of Object.entries(given)) this.write(path, text, encoding);
  }

  write(path: string, text: string, encoding: BufferEncoding = "utf8"): void {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true });
    writeFileSync(join(this.dir, path), Buffer.from(text, encoding));
  }

  read(path: string, encoding: BufferEncoding = "utf8"): string {
    return readFileSync(join(this.dir, path), encoding);
  }

  /** Every file below the folder with its bytes, as Latin-1. */
  files(): Record<string, string> {
    const all = readdirSync(this.dir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const paths = all.map((entry) => join(entry.parentPath, entry.name).slice(this.dir.length + 1)).sort();
    return Object.fromEntries(paths.map((path) => [path, this.read(path, "latin1")]));
  }

  /** Puts a program before all others of that name: it notes its words and ends with a code. */
  standIn(program: string, code = 0): void {
    mkdirSync(this.#bin, { recursive: true });
    const file = join(this.#bin, program);
    writeFileSync(
      file,
      `#!/bin/sh\n{ printf '%s' ${program}; for w; do printf '\\t%s' "$w"; done; echo; } >>'${this.#log}'\nexit ${code}\n`,
    );
    chmodSync(file, 0o755);
  }

  /** What the programs that stand in were called with. */
  calls(): string[][] {
    try {
      return readFileSync(this.#log, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t"));
    } catch {
      return [];
    }
  }

  /** Environment for commands: without what names an image, with the programs that stand in. */
  environment(more: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
    const { DOCKER_REGISTRY: _r, REPO: _p, VERSION: _v, ...env } = process.env;
    return { ...env, PATH: `${this.#bin}${delimiter}${env.PATH}`, ...more };
  }

  /** Runs a command line of `bat` in a folder below, in this process. */
  async bat(
    words: readonly string[],
    options: { cwd?: string; env?: Record<string, string> } = {},
  ): Promise<Ran> {
    const stdout = new TextStream();
    const stderr = new TextStream();
    const exit = await runCli(words, {
      cwd: join(this.dir, options.cwd ?? "."),
      env: this.environment(options.env),
      stdout,
      stderr,
      stdin: new PassThrough(),
      isTerminal: { stdin: false, stdout: false, stderr: false },
      color: false,
      columns: 100,
      signal: new AbortController().signal,
      now: () => new Date(),
    });
    return { exit, stdout: stdout.text, stderr: stderr.text };
  }

  /** Starts `bat` in a folder below as a process of its own. */
  start(
    words: readonly string[],
    options: { cwd?: string; env?: Record<string, string> } = {},
  ): ChildProcess {
    return spawn(process.execPath, [BAT, ...words], {
      cwd: join(this.dir, options.cwd ?? "."),
      env: this.environment(options.env),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  [Symbol.dispose](): void {
    rmSync(dirname(this.dir), { recursive: true, force: true });
  }
}

/** Keeps what is written to it. */
class TextStream extends Writable {
  text = "";

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}
