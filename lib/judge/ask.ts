import type { LanguageModel } from "ai";
import { BatError } from "../errors.ts";
import { type Reading, readPlain, readStructured, type Score } from "./answer.ts";
import { type Busy, type Pace, retryAfterMs } from "./pace.ts";
import type { Prompt } from "./prompt.ts";

/** What a question to a judge came to. */
export interface Judged {
  score: number | null;
  /** The judge's words, or why there is no score. */
  reasoning: string;
  /** Tokens in and out over all requests of the question. */
  tokens: { in: number; out: number };
  requests: ("structured" | "text")[];
}

const SCHEMA = {
  type: "object",
  properties: { reasoning: { type: "string" }, score: { type: "number", minimum: 0, maximum: 1 } },
  required: ["reasoning", "score"],
  additionalProperties: false,
} as const;

/** A judge's model with what was learned of it in this run. */
export class Judge {
  readonly #model: LanguageModel;
  readonly #pace: Pace;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #secrets: readonly string[];
  /** Rubrics whose answers only plain text gave. */
  readonly #plain = new Set<string>();

  constructor(given: {
    model: LanguageModel;
    pace: Pace;
    timeoutMs: number;
    signal: AbortSignal;
    secrets: readonly string[];
  }) {
    this.#model = given.model;
    this.#pace = given.pace;
    this.#timeoutMs = given.timeoutMs;
    this.#signal = given.signal;
    this.#secrets = given.secrets.filter((secret) => secret.length > 3);
  }

  /**
   * Asks for one score: by schema, once more when the answer is of no use, then in plain text. A rubric that only plain
   * text answers stays with it. Trouble never becomes a score. Throws only when the run is stopped.
   */
  async ask(rubric: string, prompt: Prompt): Promise<Judged> {
    const judged: Judged = { score: null, reasoning: "", tokens: { in: 0, out: 0 }, requests: [] };
    const ways = this.#plain.has(rubric)
      ? (["text"] as const)
      : (["structured", "structured", "text"] as const);
    let why = "";
    for (const way of ways) {
      judged.requests.push(way);
      const answer = await this.#request(way, prompt, judged);
      if (answer.ok) {
        if (way === "text") this.#plain.add(rubric);
        return { ...judged, ...(answer.value satisfies Score) };
      }
      why = answer.why;
      if (answer.final === true) break;
    }
    return { ...judged, reasoning: `No score: ${this.#redacted(why)}` };
  }

  async #request(
    way: "structured" | "text",
    prompt: Prompt,
    judged: Judged,
  ): Promise<Reading & { final?: boolean }> {
    try {
      return await this.#pace.run(() => this.#call(way, prompt, judged), busyOf);
    } catch (error) {
      this.#signal.throwIfAborted();
      const { statusCode, message } = error as { statusCode?: number; message: string };
      const status = statusCode === undefined ? "" : `HTTP ${statusCode}: `;
      return { ok: false, why: `${status}${message}`, final: isFinal(error) };
    }
  }

  async #call(way: "structured" | "text", prompt: Prompt, judged: Judged): Promise<Reading> {
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import("ai");
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const common = {
      model: this.#model,
      instructions: prompt.instructions,
      prompt: prompt.data,
      maxRetries: 0,
      abortSignal: AbortSignal.any([this.#signal, timeout]),
    };
    try {
      const answer =
        way === "text"
          ? await generateText(common)
          : await generateText({ ...common, output: Output.object({ schema: jsonSchema(SCHEMA) }) });
      count(judged, answer.usage);
      const read = way === "text" ? readPlain : readStructured;
      return read(answer.text, answer.finishReason);
    } catch (error) {
      if (timeout.aborted) return { ok: false, why: `no answer within ${this.#timeoutMs / 1000} s` };
      if (!NoObjectGeneratedError.isInstance(error)) throw error;
      if (error.usage !== undefined) count(judged, error.usage);
      return readStructured(error.text ?? "", error.finishReason ?? "other");
    }
  }

  #redacted(text: string): string {
    return this.#secrets
      .reduce((redacted, secret) => redacted.replaceAll(secret, "[secret]"), text)
      .slice(0, 500);
  }
}

function count(
  judged: Judged,
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined },
): void {
  judged.tokens.in += usage.inputTokens ?? 0;
  judged.tokens.out += usage.outputTokens ?? 0;
}

interface CallError {
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  responseBody?: string;
  isRetryable?: boolean;
}

/** Too many requests, a server's own trouble, a broken connection: worth asking again; a spent quota is not. */
function busyOf(error: unknown): Busy | null {
  const { statusCode, responseHeaders, responseBody, isRetryable } = error as CallError;
  if (statusCode === undefined)
    return isRetryable === true ? { status: null, retryAfterMs: null, again: true } : null;
  if (statusCode !== 429 && statusCode < 500) return null;
  const spent = /insufficient_quota/.test(responseBody ?? "");
  return { status: statusCode, retryAfterMs: retryAfterMs(responseHeaders, Date.now()), again: !spent };
}

/** Whether asking in another way is of no use either: no key, no right, no such model, no money, nobody there. */
function isFinal(error: unknown): boolean {
  const { statusCode, responseBody } = error as CallError;
  if (error instanceof BatError) return true;
  if (statusCode === undefined || statusCode === 401 || statusCode === 403 || statusCode === 404) return true;
  return statusCode >= 500 || (statusCode === 429 && /insufficient_quota/.test(responseBody ?? ""));
}
