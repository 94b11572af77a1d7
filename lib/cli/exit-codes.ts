import type { ErrorCode } from "../errors.ts";

/** Every exit code of `bat`, in one place. */
export const EXIT = {
  /** Done: for a run, every planned attempt was carried out, whatever the verdicts. */
  done: 0,
  /** The result is below the gate that was asked for, or not all that was planned could be carried out. */
  notDone: 1,
  /** Wrong usage, wrong configuration, a plugin that does not load. */
  usage: 2,
  /** Ended by Ctrl-C or a signal. */
  interrupted: 130,
} as const;

/** The exit code that an error ends with. A program that was run for the user has a code of its own. */
export const EXIT_OF_ERROR: Readonly<Record<ErrorCode, number>> = {
  usage: EXIT.usage,
  config: EXIT.usage,
  plugin: EXIT.usage,
  agent: EXIT.notDone,
  run: EXIT.notDone,
  store: EXIT.notDone,
  command: EXIT.notDone,
  interrupted: EXIT.interrupted,
};
