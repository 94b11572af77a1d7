import type { Readable, Writable } from "node:stream";

/** All that a command may touch of the world, so that a test can call it without a process. */
export interface World {
  /** Absolute; `--cwd` is already applied. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  stdout: Writable;
  stderr: Writable;
  stdin: Readable;
  /** Whether each stream is a terminal that redraws. */
  isTerminal: { stdin: boolean; stdout: boolean; stderr: boolean };
  /** Whether to colour (terminal, no NO_COLOR, no --no-color). */
  color: boolean;
  /** Width of the terminal, 80 where there is none. */
  columns: number;
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP; its reason is a BatError with code `interrupted`. */
  signal: AbortSignal;
  now: () => Date;
}

interface FlagBase {
  summary: string;
  /** One letter, without the dash. */
  short?: string;
  /** Other long spellings, without dashes. */
  aliases?: readonly string[];
  /** What stands for the value in help, for example `ID`. */
  value?: string;
}

export type FlagSpec = FlagBase &
  (
    | { type: "string"; choices?: readonly string[]; required?: boolean; default?: string }
    | { type: "integer" | "number"; min?: number; max?: number; required?: boolean; default?: number }
    /** `negatable` adds `--no-NAME`; absent stays undefined. */
    | { type: "boolean"; negatable?: boolean }
    /** May be given several times. */
    | { type: "list" }
  );

export interface ArgSpec {
  name: string;
  summary: string;
  optional?: boolean;
  /** The last argument only: takes all that is left. */
  variadic?: boolean;
}

type FlagValue<F> = F extends { type: "boolean" }
  ? boolean | undefined
  : F extends { type: "list" }
    ? string[]
    : F extends { type: "integer" | "number" }
      ? F extends { required: true } | { default: number }
        ? number
        : number | undefined
      : F extends { type: "string" }
        ? F extends { required: true } | { default: string }
          ? string
          : string | undefined
        : never;

type ArgValue<A> = A extends { variadic: true }
  ? string[]
  : A extends { optional: true }
    ? string | undefined
    : string;

export type FlagValues<F extends Record<string, FlagSpec>> = { [K in keyof F]: FlagValue<F[K]> };
export type ArgValues<A extends readonly ArgSpec[]> = { [E in A[number] as E["name"]]: ArgValue<E> };

/**
 * A command is plain data and one function. Its place in the tree is its file: `lib/cli/commands/eval/run.ts` is
 * `bat eval run`. What it needs beyond parsing it imports inside `run`, so that help and other commands stay fast.
 */
export interface Command<
  A extends readonly ArgSpec[] = readonly ArgSpec[],
  F extends Record<string, FlagSpec> = Record<string, FlagSpec>,
> {
  summary: string;
  /** Longer text of the command's own help. */
  description?: string;
  /** Heading it stands under in the top help. */
  group: string;
  args?: A;
  /** By long name without dashes; values arrive under that name. */
  flags?: F;
  examples?: readonly { command: string; does: string }[];
  /** Returns the exit code, nothing for 0; throws BatError for trouble. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a command without a code of its own returns nothing
  run(given: { args: ArgValues<A>; flags: FlagValues<F> }, world: World): Promise<number | void>;
}

/** Types a command and gives it back. */
export function defineCommand<
  const A extends readonly ArgSpec[] = readonly [],
  const F extends Record<string, FlagSpec> = Record<never, FlagSpec>,
>(command: Command<A, F>): Command<A, F> {
  return command;
}
