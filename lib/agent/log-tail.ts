import { open, stat } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";

const TAIL_BYTES = 16_384;
const MAX_LINE = 1_000;

/** Bytes in a log so far; 0 where there is none. */
export async function logSize(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}

/**
 * The last line of a log that says anything (rules and carets do not), without colours and cut at 1,000 characters. Only
 * the log's end is read.
 *
 * @param from byte at which the part of interest begins: a log is shared by all starts of an agent
 * @returns null where there is no such line
 */
export async function lastLogLine(file: string, from = 0): Promise<string | null> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const start = Math.max(from, size - TAIL_BYTES, 0);
    const length = Math.max(0, size - start);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
    const text = stripVTControlCharacters(buffer.toString("utf8", 0, bytesRead));
    const last = text.split(/[\r\n]+/).findLast((line) => /[\p{L}\p{N}]/u.test(line));
    return last === undefined ? null : last.trim().slice(0, MAX_LINE);
  } finally {
    await handle.close();
  }
}
