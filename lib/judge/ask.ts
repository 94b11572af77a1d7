import type { LanguageModel } from "ai";
import { BatError } from "../errors.ts";
import { type Reading, readPlain, readStructured, type Score } from "./answer.ts";
import { NoAnswerInTime, withTimeout } from "./limited-fetch.ts";
import { type Busy, type Pace, retryAfterMs } from "./pace.ts";
import type { Prompt } from "./prompt.ts";
import type { Redactor } from "./redact.ts";

/** What a question to a judge came to. */
export interface Judged {
  score: number | null;
  /** The judge's words, or why there is no score. */
  reasoning: string;
  /** Tokens in and out over all requests of the question. */
  tokens: { in: number; out: number };
  requests: ("structured" | "text")[];
}

/** How a model is to answer; what is not given is left to the provider. */
export interface Sampling {
  temperature?: number | undefined;
  maxOutputTokens?: number | undefined;
}

const SCHEMA = {
  type: "object",
  properties: { reasoning: { type: "string" }, score: { type: "number", minimum: 0, maximum: 1 } },
  required: ["reasoning", "score"],
  additionalProperties: false,
} as const;

const LONGEST_REASON = 500;
/** So many questions in a row without an answer: the judge is down. */
const GIVEN_UP_AFTER = 32;
const TRIES_AFTER_TIMEOUT = 2;

let loaded: Promise<typeof import("ai")> | undefined;

/** The AI SDK, loaded with the first question. It must not write its warnings among our lines. */
function sdk(): Promise<typeof import("ai")> {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  loaded ??= import("ai");
  return loaded;
}

/** A guess for the limit of tokens per minute, set right by the answer. */
const CHARS_PER_TOKEN = 4;
const USUAL_ANSWER = 300;

/** A judge's model with what was learned of it in this run. */
export class Judge {
  readonly #model: LanguageModel;
  readonly #pace: Pace;
  readonly #timeoutMs: number;
  readonly #limitsItself: boolean;
  readonly #sampling: Sampling;
  readonly #signal: AbortSignal;
  readonly #redactor: Redactor;
  /** Rubrics whose answers only plain text gave. */
  readonly #plain = new Set<string>();
  /** Questions in a row that no server answered, and what became of the last one. */
  #silence = 0;
  #trouble = "";

  constructor(given: {
    model: LanguageModel;
    pace: Pace;
    timeoutMs: number;
    /** Whether the model makes its requests with the limited `fetch`, which holds a place and keeps the time. */
    limitsItself: boolean;
    sampling?: Sampling;
    signal: AbortSignal;
    redactor: Redactor;
  }) {
    this.#model = given.model;
    this.#pace = given.pace;
    this.#timeoutMs = given.timeoutMs;
    this.#limitsItself = given.limitsItself;
    this.#sampling = given.sampling ?? {};
    this.#signal = given.signal;
    this.#redactor = given.redactor;
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
        const { score, reasoning } = answer.value satisfies Score;
        return { ...judged, score, reasoning: this.#redactor.words(reasoning) };
      }
      why = answer.why;
      if (answer.final === true) break;
    }
    return { ...judged, reasoning: `No score: ${this.#redactor.errors(why).slice(0, LONGEST_REASON)}` };
  }

  /** What is wrong with a judge that has answered nothing for so long that asking on is of no use; null while it answers. */
  get down(): string | null {
    return this.#silence < GIVEN_UP_AFTER ? null : this.#trouble;
  }

  async #request(
    way: "structured" | "text",
    prompt: Prompt,
    judged: Judged,
  ): Promise<Reading & { final?: boolean }> {
    const expected = (prompt.instructions.length + prompt.data.length) / CHARS_PER_TOKEN + USUAL_ANSWER;
    const used = () => judged.tokens.in + judged.tokens.out;
    const priced = async () => {
      const before = used();
      const answer = await this.#call(way, prompt, judged);
      return { answer, tokens: used() - before };
    };
    try {
      const answer = await this.#pace.run(priced, busyOf, expected);
      this.#silence = 0;
      return answer;
    } catch (error) {
      this.#signal.throwIfAborted();
      const { statusCode, message } = error as { statusCode?: number; message: string };
      const status = statusCode === undefined ? "" : `HTTP ${statusCode}: `;
      const why = `${status}${message}`;
      const final = isFinal(error);
      if (final) {
        this.#silence += 1;
        this.#trouble = this.#redactor.errors(why).slice(0, LONGEST_REASON);
      } else this.#silence = 0;
      return { ok: false, why, final };
    }
  }

  async #call(way: "structured" | "text", prompt: Prompt, judged: Judged): Promise<Reading> {
    if (this.#limitsItself) return await this.#generate(way, prompt, judged, this.#signal);
    return await this.#pace.send(this.#signal, () =>
      withTimeout(this.#timeoutMs, this.#signal, (signal) => this.#generate(way, prompt, judged, signal)),
    );
  }

  async #generate(
    way: "structured" | "text",
    prompt: Prompt,
    judged: Judged,
    abortSignal: AbortSignal,
  ): Promise<Reading> {
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await sdk();
    const { temperature, maxOutputTokens } = this.#sampling;
    const common = {
      model: this.#model,
      instructions: prompt.instructions,
      prompt: prompt.data,
      maxRetries: 0,
      abortSignal,
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
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
      if (!NoObjectGeneratedError.isInstance(error)) throw error;
      if (error.usage !== undefined) count(judged, error.usage);
      return readStructured(error.text ?? "", error.finishReason ?? "other");
    }
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
  const broken = { status: null, retryAfterMs: null, again: true };
  if (error instanceof NoAnswerInTime) return { ...broken, most: TRIES_AFTER_TIMEOUT };
  if (statusCode === undefined) return isRetryable === true ? broken : null;
  if (statusCode === 200 && isBroken(error)) return broken;
  if (statusCode !== 429 && statusCode < 500) return null;
  const spent = /insufficient_quota/.test(responseBody ?? "");
  return { status: statusCode, retryAfterMs: retryAfterMs(responseHeaders, Date.now()), again: !spent };
}

/** Whether an answer that began well ended before it was whole. */
function isBroken(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string; cause?: { code?: string } } };
  const code = cause?.code ?? cause?.cause?.code ?? "";
  return code.startsWith("UND_ERR_") || code === "ECONNRESET" || code === "EPIPE";
}

/** Whether asking in another way is of no use either: no key, no right, no such model, no money, nobody there. */
function isFinal(error: unknown): boolean {
  const { statusCode, responseBody } = error as CallError;
  if (error instanceof BatError) return true;
  if (statusCode === undefined || statusCode === 401 || statusCode === 403 || statusCode === 404) return true;
  return statusCode >= 500 || (statusCode === 429 && /insufficient_quota/.test(responseBody ?? ""));
}
