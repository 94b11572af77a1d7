import type { ConversationQuery, SpanIndex } from "./span-index.ts";

/**
 * Waits until each turn of a conversation has its root span, reading the files as they grow.
 *
 * @returns whether that came about within `timeoutMs`
 */
export async function waitForSpans(
  index: SpanIndex,
  query: ConversationQuery,
  { timeoutMs = 2_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 1.5, 50)) {
    await index.refresh();
    if (index.complete(query)) return true;
    const left = deadline - performance.now();
    if (left <= 0 || signal?.aborted === true) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}
