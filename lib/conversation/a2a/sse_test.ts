import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OversizedEvent, serverSentEvents } from "./sse.ts";

async function* chunked(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(
  text: string | Uint8Array,
  sizes: readonly number[] = [1 << 20],
  limit?: number,
): Promise<string[]> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const events: string[] = [];
  for await (const data of serverSentEvents(chunked(bytes, sizes), limit)) events.push(data);
  return events;
}

test("data is read with every line end, comments and other fields passed over", async () => {
  assert.deepEqual(await read(": hello\r\n\r\ndata: a\r\n\r\nevent: x\rdata:b\r\r"), ["a", "b"]);
  assert.deepEqual(await read("\ufeffdata: 1\ndata:  2\nid: 7\n\ndata\n\n"), ["1\n 2", ""]);
  assert.deepEqual(await read("data: last"), ["last"]);
  assert.deepEqual(await read(""), []);
});

const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });

test("events come out the same however the bytes are cut", async () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, ""));
  const end = fc.constantFrom("\n", "\r\n", "\r");
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1 }), end, sizes, async (lines, lineEnd, cuts) => {
      const text = lines.map((one) => `data: ${one}${lineEnd}${lineEnd}`).join("");
      assert.deepEqual(await read(text, cuts), lines);
    }),
  );
});

/** The same rules applied to the whole text at once. */
function plainly(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const line of [...text.split(/\r\n|\r|\n/), ""]) {
    if (line === "" && data.length > 0) {
      events.push(data.join("\n"));
      data = [];
    } else if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  return events;
}

test("line ends of all kinds, mixed and cut anywhere, are read as in the whole text", async () => {
  const pieces = fc.constantFrom("\r", "\n", "\r\n", "data", ":", " ", "x", "é", "data: ");
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), sizes, async (parts, cuts) => {
      const text = parts.join("");
      assert.deepEqual(await read(text, cuts), plainly(text));
    }),
    { numRuns: 1_000 },
  );
});

test("arbitrary bytes never crash or hang the reader", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), sizes, async (bytes, cuts) => {
      await read(bytes, cuts);
    }),
  );
});

test("an event beyond the limit is refused while it comes, in one line or in many", async () => {
  await assert.rejects(read(`data: ${"x".repeat(2000)}`, [64], 1000), OversizedEvent);
  await assert.rejects(read("data: xxxxxxxxxx\n".repeat(200), [64], 1000), OversizedEvent);
  await assert.rejects(read("data\n".repeat(1001), [64], 1000), OversizedEvent);
});
