import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

const BLOCK_BYTES = 1024 * 1024;
/** A longer line is no span that anybody wrote; it is skipped as it goes by. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;
const NEWLINE = 10;

interface OpenFile {
  fd: number;
  inode: number;
  offset: number;
  /** Start of a line whose end is still to come. */
  rest: Buffer[];
  restBytes: number;
  /** In the middle of a line that is too long. */
  skipping: boolean;
}

/**
 * Reads span files as they grow: each byte once, whole lines only. Directories are listed anew each time, so files that
 * appear later are found; a file that was truncated or replaced is read from its start.
 */
export class SpanFileReader {
  readonly #paths: readonly string[];
  readonly #open = new Map<string, OpenFile>();
  /** One for all reading: what is kept of it is copied. */
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  bytes = 0;
  skippedLines = 0;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /** The files there are now. */
  files(): string[] {
    return [...new Set(this.#paths.flatMap(filesAt))];
  }

  /** Takes all that is there now as read: only what is written from now on will be told. */
  skipExisting(): void {
    for (const path of this.files()) {
      const file = this.#file(path);
      if (file !== null) file.offset = fstatSync(file.fd).size;
    }
  }

  /** Hands every new whole line to `take`, and gives the loop a turn between blocks. Returns the bytes read. */
  async read(take: (line: string) => void): Promise<number> {
    const before = this.bytes;
    for (const path of this.files()) {
      const file = this.#file(path);
      if (file !== null) await this.#readFile(file, take);
    }
    return this.bytes - before;
  }

  /** A last line without its newline is taken when nothing will be written any more. */
  finish(take: (line: string) => void): void {
    for (const file of this.#open.values()) {
      if (file.restBytes > 0) take(Buffer.concat(file.rest).toString("utf8"));
      file.rest = [];
      file.restBytes = 0;
    }
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  #file(path: string): OpenFile | null {
    const known = this.#open.get(path);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile()) return known ?? null;
    if (known !== undefined && known.inode === found.ino && found.size >= known.offset) return known;
    if (known !== undefined) closeSync(known.fd);
    const fd = openSync(path, "r");
    const file = { fd, inode: found.ino, offset: 0, rest: [], restBytes: 0, skipping: false };
    this.#open.set(path, file);
    return file;
  }

  async #readFile(file: OpenFile, take: (line: string) => void): Promise<void> {
    for (;;) {
      const left = fstatSync(file.fd).size - file.offset;
      if (left <= 0) return;
      const block = this.#block;
      const count = readSync(file.fd, block, 0, Math.min(left, BLOCK_BYTES), file.offset);
      if (count === 0) return;
      file.offset += count;
      this.bytes += count;
      this.#splitLines(file, block.subarray(0, count), take);
      if (left > count) await new Promise(setImmediate);
    }
  }

  #splitLines(file: OpenFile, block: Buffer, take: (line: string) => void): void {
    let start = 0;
    for (;;) {
      const end = block.indexOf(NEWLINE, start);
      if (end === -1) break;
      if (file.skipping) file.skipping = false;
      else if (file.restBytes === 0) take(block.toString("utf8", start, end));
      else {
        file.rest.push(block.subarray(start, end));
        const line = Buffer.concat(file.rest).toString("utf8");
        take(line);
        file.rest = [];
        file.restBytes = 0;
      }
      start = end + 1;
    }
    if (start === block.length || file.skipping) return;
    file.rest.push(Buffer.from(block.subarray(start)));
    file.restBytes += block.length - start;
    if (file.restBytes > LONGEST_LINE_BYTES) {
      file.rest = [];
      file.restBytes = 0;
      file.skipping = true;
      this.skippedLines += 1;
    }
  }
}

/** A file itself, or a directory's `*.jsonl` by name; nothing where there is nothing yet. */
function filesAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(path, name));
}
