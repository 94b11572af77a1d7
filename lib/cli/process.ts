import type { Writable } from "node:stream";
import { BatError } from "../errors.ts";
import type { World } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { runCli } from "./run-cli.ts";

/** Runs the command line in this process and ends it with its exit code when all output is written. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new BatError("interrupted", `Stopped by ${name}`));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, interrupt);
  let unwritten: Error | null = null;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that went away (`bat … | head`) is no fault, nor is a terminal that was closed (then EIO).
      if (error.code !== "EPIPE" && error.code !== "EIO") unwritten ??= error;
    });
  }
  const code = await runCli(argv, processWorld(argv, controller.signal));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // The news of a write that failed comes with the loop's next turn.
  await new Promise(setImmediate);
  process.exit(unwritten === null ? code : tellUnwritten(unwritten, code));
}

/** Output that a full disk swallowed: what was done is done, but who reads the file has to know. */
function tellUnwritten({ message }: Error, code: number): number {
  process.stderr.write(`Error: Cannot write the output: ${message}\n`);
  return code === EXIT.done ? EXIT.notDone : code;
}

function processWorld(argv: readonly string[], signal: AbortSignal): World {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = {
    stdin: stdin.isTTY === true,
    stdout: stdout.isTTY === true,
    stderr: stderr.isTTY === true,
  };
  const plain = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb" || argv.includes("--no-color");
  return {
    cwd: process.cwd(),
    env,
    stdin,
    stdout,
    stderr,
    isTerminal,
    color: isTerminal.stdout && !plain,
    columns: stdout.columns ?? stderr.columns ?? 80,
    signal,
    now: () => new Date(),
  };
}

function flushed(stream: Writable): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => stream.write("", () => resolve()));
}
