/** A single event may have this many bytes; more is no answer to a person's turn but a fault. */
export const LARGEST_EVENT_BYTES = 16 * 1024 * 1024;

/** An event beyond the limit. */
export class OversizedEvent extends Error {
  constructor(limit: number) {
    super(`An event of the stream is larger than ${limit} bytes`);
    this.name = "OversizedEvent";
  }
}

const LF = 10;
const CR = 13;

/**
 * Reads server-sent events: yields the data of each. Comments, ids, names and retries are passed over; lines may end
 * with LF, CRLF or CR, wherever the chunks are cut. What stands before the end without an empty line is an event too:
 * servers leave it out.
 *
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * @throws OversizedEvent
 */
export async function* serverSentEvents(
  chunks: AsyncIterable<Uint8Array>,
  limit = LARGEST_EVENT_BYTES,
): AsyncGenerator<string> {
  const lines = new LineSplitter(limit);
  const event = new EventData(limit);
  for await (const chunk of chunks) {
    for (const line of lines.push(chunk)) {
      const data = event.take(line);
      if (data !== null) yield data;
    }
  }
  const rest = lines.end();
  if (rest !== "") event.take(rest);
  const last = event.take("");
  if (last !== null) yield last;
}

class LineSplitter {
  readonly #limit: number;
  /** The beginning of a line whose end has not come; copied, for a chunk may be a small part of a large buffer. */
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #afterCr = false;
  #first = true;

  constructor(limit: number) {
    this.#limit = limit;
  }

  *push(chunk: Uint8Array): Generator<string> {
    let start = this.#afterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#afterCr = false;
    // Each kind of line end is looked for once, and again only when it has been passed.
    let lf = chunk.indexOf(LF, start);
    let cr = chunk.indexOf(CR, start);
    while (lf !== -1 || cr !== -1) {
      const atCr = cr !== -1 && (lf === -1 || cr < lf);
      const end = atCr ? cr : lf;
      const line = this.#line(chunk.subarray(start, end));
      const pair = atCr && lf === cr + 1;
      start = end + (pair ? 2 : 1);
      this.#afterCr = atCr && !pair && start === chunk.length;
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
      if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start);
      yield line;
    }
    this.#hold(chunk.subarray(start));
  }

  end(): string {
    return this.#line(new Uint8Array());
  }

  #hold(part: Uint8Array): void {
    const bytes = this.#bytes + part.length;
    if (bytes > this.#limit) throw new OversizedEvent(this.#limit);
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, this.#held.length * 2, 1024));
      this.#held.copy(larger, 0, 0, this.#bytes);
      this.#held = larger;
    }
    this.#held.set(part, this.#bytes);
    this.#bytes = bytes;
  }

  #line(rest: Uint8Array): string {
    if (this.#bytes + rest.length > this.#limit) throw new OversizedEvent(this.#limit);
    let whole = rest;
    if (this.#bytes > 0) {
      this.#hold(rest);
      whole = this.#held.subarray(0, this.#bytes);
    }
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString("utf8");
    this.#held = Buffer.alloc(0);
    this.#bytes = 0;
    if (!this.#first) return text;
    this.#first = false;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

class EventData {
  readonly #limit: number;
  #data: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a line; gives the event's data when the line is the empty one that ends it. */
  take(line: string): string | null {
    if (line === "") {
      const data = this.#data.length === 0 ? null : this.#data.join("\n");
      this.#data = [];
      this.#length = 0;
      return data;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name !== "data") return null;
    // The line end counts too: lines without any data are no way around the limit.
    this.#length += value.length + 1;
    if (this.#length > this.#limit) throw new OversizedEvent(this.#limit);
    this.#data.push(value);
    return null;
  }
}
