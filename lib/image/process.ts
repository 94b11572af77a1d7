import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { World } from "../cli/command.ts";
import { BatError, messageOf } from "../errors.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Variables by which make would be given more than the arguments that are printed. */
const MAKE_VARIABLES = ["MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL", "MAKEOVERRIDES"];

/** How a program ended and what it said. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program without showing its output. Throws BatError (code `command`) when it is not found. */
export async function runQuietly(
  command: readonly [string, ...string[]],
  options: { cwd: string; env: Env; signal: AbortSignal },
): Promise<Ended> {
  const { cwd, env, signal } = options;
  const child = spawn(command[0], command.slice(1), {
    cwd,
    env: forMake(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  child.stdout.on("data", (chunk: Buffer) => chunks.stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
  const code = await ended(child, command[0], signal, () => child.kill("SIGTERM"));
  const text = (name: "stdout" | "stderr") => Buffer.concat(chunks[name]).toString("utf8");
  return { code, stdout: text("stdout"), stderr: text("stderr") };
}

/**
 * Runs a program for the user: it is printed, its input and output are ours, signals pass on.
 *
 * @throws BatError with code `command` and its exit code when it fails or is not found, with code `interrupted` when we
 *   were stopped; the program has ended then
 */
export async function runForUser(
  command: readonly [string, ...string[]],
  cwd: string,
  world: Pick<World, "env" | "stdout" | "stderr" | "stdin" | "isTerminal" | "signal">,
): Promise<void> {
  const { env, stdout, stderr, stdin, isTerminal, signal } = world;
  const line = command.map(forShell).join(" ");
  stderr.write(`$ ${line}\n`);
  const own = stdout === process.stdout && stderr === process.stderr && stdin === process.stdin;
  const child = spawn(command[0], command.slice(1), {
    cwd,
    env: forMake(env),
    stdio: own ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  child.stdout?.pipe(stdout, { end: false });
  child.stderr?.pipe(stderr, { end: false });
  const code = await ended(child, command[0], signal, () => {
    const name =
      /\bSIG[A-Z]+\b/.exec(String((signal.reason as Error | undefined)?.message))?.[0] ?? "SIGTERM";
    // Ctrl-C on a terminal reaches the program by itself; a second one would cut its own ending short.
    if (!(name === "SIGINT" && isTerminal.stdin)) child.kill(name as NodeJS.Signals);
  });
  if (code !== 0)
    throw new BatError("command", `\`${line}\` failed with exit code ${code}`, { exitCode: code });
}

async function ended(
  child: ChildProcess,
  program: string,
  signal: AbortSignal,
  stop: () => void,
): Promise<number> {
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  try {
    const [code, by] = await closed;
    if (signal.aborted) throw signal.reason;
    return code ?? 128 + (by === null ? 0 : constants.signals[by]);
  } catch (error) {
    const { code, syscall = "" } = error as NodeJS.ErrnoException;
    if (!syscall.startsWith("spawn")) throw error;
    const why =
      code === "ENOENT"
        ? "no program of that name was found; is it installed and in PATH?"
        : messageOf(error);
    throw new BatError("command", `Cannot run "${program}": ${why}`, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function forMake(env: Env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !MAKE_VARIABLES.includes(name)));
}

function forShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
