import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace, type Priced } from "./pace.ts";
import { PerMinute } from "./per-minute.ts";
import { sleep } from "./sleep.ts";
import { Slots } from "./slots.ts";

const { signal } = new AbortController();

test("no window of a minute holds more than is allowed, wherever it begins", async () => {
  const windowMs = 200;
  const limit = new PerMinute(5, windowMs);
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: 17 }, async () => {
      times.push((await limit.take(1, signal)).at);
    }),
  );
  times.sort((a, b) => a - b);
  for (const [i, time] of times.entries()) {
    const within = times.slice(i).filter((one) => one < time + windowMs);
    assert.ok(within.length <= 5, `${within.length} within ${windowMs} ms`);
  }
  assert.ok(times.at(-1)! - times[0]! >= 3 * windowMs);
});

test("amounts count, the real one once it is known, and one beyond the limit waits until it is alone", async () => {
  const limit = new PerMinute(100, 150);
  const first = await limit.take(60, signal);
  first.amount = 10;
  const second = await limit.take(85, signal);
  assert.ok(second.at - first.at < 100, "the first cost less than was thought");
  const third = await limit.take(1_000, signal);
  assert.ok(third.at - second.at >= 149);
});

test("a stop waits for no limit", async () => {
  const stop = new AbortController();
  const limit = new PerMinute(1);
  await limit.take(1, stop.signal);
  const waiting = [limit.take(1, stop.signal), limit.take(1, stop.signal)];
  const begun = performance.now();
  stop.abort(new Error("stopped"));
  for (const one of waiting) await assert.rejects(one, { message: "stopped" });
  assert.ok(performance.now() - begun < 1_000);
});

test("a stop ends waits for a busy provider, and calls that have not begun never do", async () => {
  const stop = new AbortController();
  const pace = new Pace({ atOnce: 1 }, stop.signal);
  let calls = 0;
  const busy = () => ({ status: 429, retryAfterMs: 60_000, again: true });
  const call = (): Promise<Priced<number>> => {
    calls += 1;
    setTimeout(() => stop.abort(new Error("stopped")), 20);
    return Promise.reject(new Error("busy"));
  };
  const held = () => pace.send(stop.signal, call);
  const all = [pace.run(held, busy, 1), sleep(5, signal).then(() => pace.run(held, busy, 1))];
  for (const one of all) await assert.rejects(one, { message: "stopped" });
  assert.equal(calls, 1);
});

test("places are held by no more than are allowed, in order, and given back whatever happens", async () => {
  const slots = new Slots(3);
  const order: number[] = [];
  let open = 0;
  let most = 0;
  const all = Array.from({ length: 20 }, (_, i) =>
    slots.hold(signal, async () => {
      order.push(i);
      open += 1;
      most = Math.max(most, open);
      await sleep(2, signal);
      open -= 1;
      if (i % 4 === 0) throw new Error("broken");
    }),
  );
  const ended = await Promise.allSettled(all);
  assert.deepEqual([most, open], [3, 0]);
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  assert.equal(ended.filter(({ status }) => status === "rejected").length, 5);
});

test("a limited provider gets half as much at once, and one more with each answer", async () => {
  const slots = new Slots(8);
  slots.halve();
  slots.halve();
  let open = 0;
  const most: number[] = [];
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      slots.hold(signal, async () => {
        open += 1;
        most.push(open);
        await sleep(2, signal);
        open -= 1;
        if (i === 5) slots.recover();
      }),
    ),
  );
  assert.equal(Math.max(...most.slice(0, 6)), 2);
  assert.equal(Math.max(...most), 3);
});

test("a wait that a provider asks for is kept to by calls that were in line already", async () => {
  const pace = new Pace({ atOnce: 1, requestsPerMinute: 100 }, signal);
  const sent: number[] = [];
  const busy = (error: unknown) =>
    (error as Error).message === "busy" ? { status: 429, retryAfterMs: 250, again: true } : null;
  let calls = 0;
  const call = () =>
    pace.send(signal, async () => {
      sent.push(performance.now());
      calls += 1;
      await sleep(5, signal);
      if (calls === 1) throw new Error("busy");
      return { answer: calls, tokens: 1 };
    });
  await Promise.all(Array.from({ length: 4 }, () => pace.run(call, busy, 1)));
  assert.equal(sent.length, 5);
  assert.ok(sent[1]! - sent[0]! >= 240, `${sent[1]! - sent[0]!} ms`);
});
