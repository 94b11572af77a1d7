import { createInterface } from "node:readline/promises";
import { BatError } from "../errors.ts";
import type { World } from "./command.ts";

/** A question for something that the command line does not say. */
export interface Question {
  ask: string;
  /** Taken for an empty answer; without one the question comes again. */
  otherwise?: string;
}

/**
 * Asks on the terminal. Elsewhere nothing is asked: each answer is undefined.
 *
 * @throws BatError (code `usage`) when the input ends before the answers do
 */
export async function ask<K extends string>(
  questions: Readonly<Record<K, Question>>,
  { stdin, stderr, isTerminal, signal }: World,
): Promise<Record<K, string | undefined>> {
  const answers = {} as Record<K, string | undefined>;
  if (!isTerminal.stdin || !isTerminal.stderr) return answers;
  const lines = createInterface({ input: stdin, output: stderr });
  const end = lines[Symbol.asyncIterator]();
  try {
    for (const [key, { ask: text, otherwise }] of Object.entries<Question>(questions)) {
      let answer = "";
      while (answer === "") {
        signal.throwIfAborted();
        stderr.write(`${text}${otherwise === undefined ? "" : ` [${otherwise}]`}: `);
        const { value, done } = await end.next();
        if (done === true) throw new BatError("usage", "The input ended before all was asked");
        answer = String(value).trim() || (otherwise ?? "");
      }
      answers[key as K] = answer;
    }
  } finally {
    lines.close();
  }
  return answers;
}
