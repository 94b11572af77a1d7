import type { Pace } from "./pace.ts";

/** No whole answer in the time that was given. */
export class NoAnswerInTime extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000} s`);
    this.name = "TimeoutError";
  }
}

/**
 * A `fetch` that keeps a judge's pace, and holds a place from the request to the last byte of its answer: what the judge's library does before and
 * after takes no place from others. Its time limit begins with the request, not while it waits.
 */
export function limitedFetch(pace: Pace, timeoutMs: number, signal: AbortSignal): typeof fetch {
  return (input, init) => {
    const outer = init?.signal ?? signal;
    return pace.send(outer, () =>
      withTimeout(timeoutMs, outer, async (inner) => {
        const response = await fetch(input, { ...init, signal: inner });
        const body = await response.arrayBuffer();
        const { status, statusText, headers } = response;
        return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
      }),
    );
  };
}

/** Gives work a signal that is aborted with the outer one, or when its time is over. */
export async function withTimeout<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(outer.reason);
  outer.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => controller.abort(new NoAnswerInTime(timeoutMs)), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", stop);
  }
}
