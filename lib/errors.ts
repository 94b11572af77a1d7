/** One place in a user's input that is wrong: what was found there and what is allowed. */
export interface Problem {
  /** File as the user knows it (relative to where the command runs, where that is shorter). */
  file?: string;
  /** Place in the file: a JSON path such as `[3].expected.tool_calls[0].name`, or `line 4, column 2`. */
  place?: string;
  /** What is wrong, what was found, what is allowed. No final period. */
  message: string;
}

/**
 * What kind of trouble an error is. `lib/cli/exit-codes.ts` alone turns it into an exit code.
 *
 * - `usage`: the command line; `config`: a file the user wrote; `plugin`: a plugin that does not load
 * - `agent`: an agent cannot be started or reached; `run`: a run could not carry out all that was planned
 * - `store`: a run's folder is damaged, held by another process, or does not fit what was asked
 * - `command`: a program run for the user failed (`exitCode` is its own); `interrupted`: stopped by a signal
 */
export type ErrorCode = "usage" | "config" | "plugin" | "agent" | "run" | "store" | "command" | "interrupted";

/** An error whose message is meant for the user; anything else that is thrown is a defect of `bat`. */
export class BatError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  /** Exit code of the program that failed, for code `command`. */
  readonly exitCode?: number;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; problems?: readonly Problem[]; exitCode?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "BatError";
    this.code = code;
    this.problems = options.problems ?? [];
    if (options.exitCode !== undefined) this.exitCode = options.exitCode;
  }
}

/** `eval/tasks.json [3].id: …`, one line a problem. */
export function formatProblem({ file, place, message }: Problem): string {
  const where = [file, place].filter((part) => part !== undefined && part !== "").join(" ");
  return where === "" ? message : `${where}: ${message}`;
}

/** An error that carries every problem of an input at once; its message lists them, one a line. */
export function problemsError(code: ErrorCode, heading: string, problems: readonly Problem[]): BatError {
  const lines = problems.map((problem) => `  ${formatProblem(problem)}`);
  return new BatError(code, [heading, ...lines].join("\n"), { problems });
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
