import { connectA2a } from "../lib/conversation/a2a/client.ts";
import { type Answer, type HoldInput, holdConversation } from "../lib/conversation/hold.ts";

const never = new AbortController().signal;

/** Connects, holds one conversation, and closes the connections. */
export async function hold(
  url: string,
  turns: string[] = ["hi"],
  more: Partial<HoldInput> = {},
  version?: string,
): Promise<Answer> {
  const target = version === undefined ? { url } : { url, protocolVersion: version };
  const client = await connectA2a(target, never);
  const input = { client, contextId: "c__try0", turns, turnTimeoutMs: 3_000, signal: never };
  try {
    return await holdConversation({ ...input, ...more });
  } finally {
    await client.close();
  }
}

/** What a verdict would be made from. */
export const outcome = ({ status, output, problem }: Answer) => ({
  status,
  output,
  problem: problem?.code ?? null,
});
