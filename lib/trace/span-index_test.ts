import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { parseLine } from "./parse-line.ts";
import type { NamedConvention } from "./record.ts";
import { renderTrajectory } from "./render.ts";
import { SpanIndex } from "./span-index.ts";
import { waitForSpans } from "./wait-for-spans.ts";

const plain = readFileSync(
  fileURLToPath(new URL("../../fixtures/golden/trajectory/plain/spans/a.jsonl", import.meta.url)),
  "utf8",
);
const lines = plain.trim().split("\n");
const query = { conversation: "draft__try0", turns: ["Look up bolts and save a draft"] };

let folder = "";
let conventions: NamedConvention[] = [];
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "bat-trace-"));
  conventions = await loadPlugins("conventions", pluginSources());
});
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const fresh = (): string => {
  count += 1;
  return join(folder, `${count}.jsonl`);
};

async function read(content: string | Uint8Array): Promise<string> {
  const file = fresh();
  writeFileSync(file, content);
  const index = new SpanIndex([file], conventions);
  await index.readAll();
  const { trajectory } = index.trajectory(query);
  index.close();
  return JSON.stringify(trajectory);
}

test("a file that grows is read once: however its bytes arrive, the trajectory is the same", async () => {
  const whole = await read(plain);
  const bytes = Buffer.from(plain);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
      const file = fresh();
      writeFileSync(file, "");
      const index = new SpanIndex([file], conventions);
      let at = 0;
      for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
        appendFileSync(file, bytes.subarray(at, cut));
        at = Math.max(at, cut);
        await index.refresh();
      }
      assert.equal(index.stats.bytes, bytes.length);
      assert.equal(JSON.stringify(index.trajectory(query).trajectory), whole);
      index.close();
    }),
    { numRuns: 30 },
  );
});

test("lines in any order, in any number of files, written twice or not, give the same trajectory", async () => {
  const whole = await read(plain);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(lines, { minLength: lines.length }),
      fc.array(fc.nat({ max: lines.length - 1 }), { maxLength: 5 }),
      async (shuffled, again) => {
        assert.equal(await read(`${[...shuffled, ...again.map((i) => shuffled[i])].join("\n")}\n`), whole);
      },
    ),
    { numRuns: 30 },
  );
});

test("a line that is still being written waits for its end; one that never ends is taken at the end", async () => {
  const file = fresh();
  writeFileSync(file, plain.slice(0, -10));
  const index = new SpanIndex([file], conventions);
  await index.refresh();
  assert.equal(index.stats.spans, lines.length - 1);
  appendFileSync(file, plain.slice(-10));
  await index.refresh();
  assert.equal(index.stats.spans, lines.length);
  index.close();
  assert.equal(await read(plain.trimEnd()), await read(plain));
});

test("a file that was cut down or replaced is read from its start", async () => {
  const file = fresh();
  writeFileSync(file, `${lines[0]}\n`);
  const index = new SpanIndex([file], conventions);
  await index.refresh();
  truncateSync(file, 0);
  await index.refresh();
  writeFileSync(`${file}.new`, plain);
  renameSync(`${file}.new`, file);
  await index.refresh();
  assert.equal(index.trajectory(query).trajectory.totals.model_calls, 3);
  index.close();
});

test("the root is waited for, and not longer than is said", async () => {
  const file = fresh();
  const root = lines.find((line) => line.includes('"invoke_agent'))!;
  writeFileSync(file, `${lines.filter((line) => line !== root).join("\n")}\n`);
  const index = new SpanIndex([file], conventions);
  assert.equal(await waitForSpans(index, query, { timeoutMs: 60 }), false);
  setTimeout(() => appendFileSync(file, `${root}\n`), 50);
  assert.equal(await waitForSpans(index, query, { timeoutMs: 5_000 }), true);
  index.close();
});

test("what was released is forgotten, and what comes later of it is dropped", async () => {
  const file = fresh();
  writeFileSync(file, plain);
  const index = new SpanIndex([file], conventions);
  await index.refresh();
  index.release(query);
  appendFileSync(file, plain);
  await index.refresh();
  assert.deepEqual(index.conversations(), []);
  assert.equal(index.trajectory(query).trajectory.found, false);
  index.close();
});

test("only what is written from now on, where that is asked for", async () => {
  const file = fresh();
  writeFileSync(file, plain);
  const index = new SpanIndex([file], conventions, { onlyNew: true });
  await index.refresh();
  assert.equal(index.stats.spans, 0);
  appendFileSync(file, plain);
  await index.refresh();
  assert.equal(index.trajectory(query).trajectory.found, true);
  index.close();
});

/** A span of an agent of another kind. */
function otel(
  traceId: string,
  spanId: string,
  parent: string | null,
  start: number,
  attributes: object = {},
): string {
  return JSON.stringify({
    name: "chat",
    kind: "INTERNAL",
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: parent,
    start_time: start,
    end_time: start + 1,
    attributes,
    status: "OK",
  });
}
const chat = { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5 };

test("whose spans: by the trace we sent; by time only where one conversation runs and one trace fits; else none", async () => {
  const file = fresh();
  writeFileSync(
    file,
    `${otel("a".repeat(32), "1".repeat(16), "9".repeat(16), 1000, chat)}\n${otel("b".repeat(32), "2".repeat(16), null, 5000, chat)}\n`,
  );
  const index = new SpanIndex([file], conventions);
  await index.readAll();
  const asked = { conversation: "nobody", turns: ["x"] };
  const sent = [{ traceId: "a".repeat(32), spanId: "9".repeat(16) }];
  assert.deepEqual(
    [index.trajectory({ ...asked, sent }).trajectory.totals.tokens_in, index.complete({ ...asked, sent })],
    [5, true],
  );
  const windows = [{ from: 4000n, to: 6000n }];
  assert.equal(index.trajectory({ ...asked, windows }).trajectory.matched, "time");
  assert.equal(index.trajectory({ ...asked, windows: [{ from: 0n, to: 6000n }] }).trajectory.found, false);
  assert.equal(index.trajectory(asked).trajectory.found, false);
  index.close();
});

test("impossible spans end all the same: circles, chains of thousands, missing times and ids", async () => {
  const root = lines.find((line) => line.includes('"invoke_agent'))!;
  const { trace_id, span_id } = JSON.parse(root) as { trace_id: string; span_id: string };
  const id = (i: number) => i.toString(16).padStart(16, "0");
  const chain = Array.from({ length: 10_000 }, (_, i) =>
    otel(trace_id, id(i + 1), i === 0 ? span_id : id(i), i, i % 3 === 0 ? chat : {}),
  );
  const odd = [
    '{"trace_id":1}',
    "{}",
    "[]",
    "null",
    '{"trace_id":"x","span_id":"y","start_time":"soon","attributes":5,"events":{}}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}',
  ];
  const circle = [otel(trace_id, "aa", "bb", 1, chat), otel(trace_id, "bb", "aa", 1, chat)];
  const text = await read(`${[root, ...chain, ...circle, ...odd].join("\n")}\n`);
  assert.ok((JSON.parse(text) as { totals: { model_calls: number } }).totals.model_calls > 0);
});

test("arbitrary bytes and mutilated lines never crash the reader", async () => {
  const mutilated = fc
    .tuple(fc.constantFrom(...lines), fc.nat(), fc.nat(), fc.string())
    .map(([line, at, length, text]) => {
      const start = at % line.length;
      return line.slice(0, start) + text + line.slice(start + (length % 50));
    });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(mutilated, { maxLength: 4 }).map((some) => some.join("\n")),
      ),
      async (content) => {
        await read(content);
      },
    ),
    { numRuns: 200 },
  );
});

test("nanoseconds keep their last digit", () => {
  const [span] =
    parseLine(otel("a", "b", null, 0).replace('"start_time":0', '"start_time": 1796107417862881793')) ?? [];
  assert.equal(span?.startTime, 1796107417862881793n);
});

test("OTLP/JSON: hex and base64 ids, numbers as texts, every kind of value", () => {
  const value = (one: object) => ({ key: Object.keys(one)[0], value: one });
  const span = {
    traceId: Buffer.from("0123456789abcdef0123456789abcdef", "hex").toString("base64"),
    spanId: "0123456789ABCDEF",
    kind: "SPAN_KIND_CLIENT",
    startTimeUnixNano: "1796107417862881793",
    status: { code: "STATUS_CODE_ERROR", message: "m" },
    attributes: [
      value({ intValue: "12345678901234567890" }),
      value({ doubleValue: 1.5 }),
      value({ boolValue: true }),
      value({ arrayValue: { values: [{ stringValue: "a" }] } }),
      value({ kvlistValue: { values: [value({ stringValue: "x" })] } }),
    ],
  };
  const [read] = parseLine(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })) ?? [];
  assert.deepEqual(
    [read?.traceId, read?.spanId, read?.kind, read?.startTime, read?.status, read?.statusDescription],
    ["0123456789abcdef0123456789abcdef", "0123456789abcdef", "CLIENT", 1796107417862881793n, "ERROR", "m"],
  );
  assert.deepEqual(read?.attributes, {
    intValue: 12345678901234567890n,
    doubleValue: 1.5,
    boolValue: true,
    arrayValue: ["a"],
    kvlistValue: { stringValue: "x" },
  });
});

test("a rendering keeps to its limit in code points, whatever the limit", async () => {
  const trajectory = JSON.parse(await read(plain)) as Parameters<typeof renderTrajectory>[0];
  trajectory.turns[0]!.user = "😀".repeat(500);
  for (let limit = 1; limit < 900; limit += 7) {
    assert.ok([...renderTrajectory(trajectory, limit)].length <= limit, String(limit));
  }
});
