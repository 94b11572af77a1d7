import { get as httpGet, type IncomingMessage } from "node:http";
import { get as httpsGet } from "node:https";
import { setTimeout as pause } from "node:timers/promises";

const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
const MAX_CARD_BYTES = 16 << 20;
/** A server that took the question too early may never answer it: it is asked anew. */
const ANSWER_LIMIT_MS = 5_000;
const SHORTEST_POLL_MS = 5;
const LONGEST_POLL_MS = 100;

/** How an agent is asked whether it is ready. */
export interface ReadyQuestion {
  /** Where it will answer, no trailing slash. */
  url: string;
  /** Absolute URL that must answer 2xx; by default its card must be there. */
  ready?: string;
}

/**
 * Asks until an agent is ready: often at first, ten times a second later.
 *
 * @param seen is told what was seen instead, each time
 * @throws the signal's reason
 */
export async function pollUntilReady(
  { url, ready }: ReadyQuestion,
  signal: AbortSignal,
  seen: (what: string) => void,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    const problem =
      ready === undefined ? await cardProblem(url, signal) : await problemAt(ready, false, signal);
    signal.throwIfAborted();
    if (problem === null) return;
    seen(problem);
    // What the waiting adds to a start stays a small part of it, however long that takes.
    const wait = Math.min(Math.max((performance.now() - began) / 20, SHORTEST_POLL_MS), LONGEST_POLL_MS);
    await pause(wait, undefined, { signal });
  }
}

async function cardProblem(url: string, signal: AbortSignal): Promise<string | null> {
  let first: string | null = null;
  for (const path of CARD_PATHS) {
    const problem = await problemAt(`${url}${path}`, true, signal);
    if (problem === null) return null;
    first ??= problem;
  }
  return first;
}

/** Null when a URL answers 2xx, and with JSON where that is asked for; else what it does instead. */
function problemAt(url: string, json: boolean, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const get = url.startsWith("https:") ? httpsGet : httpGet;
    const request = get(url, { agent: false, signal, timeout: ANSWER_LIMIT_MS }, (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode < 200 || statusCode > 299) finish(`HTTP ${statusCode}`);
      else if (json) void isJson(answer).then((is) => finish(is ? null : "an answer that is no JSON"));
      else finish(null);
    });
    const finish = (problem: string | null) => {
      resolve(problem);
      request.destroy();
    };
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

async function isJson(answer: IncomingMessage): Promise<boolean> {
  try {
    let text = "";
    answer.setEncoding("utf8");
    for await (const chunk of answer as AsyncIterable<string>) {
      text += chunk;
      if (text.length > MAX_CARD_BYTES) return false;
    }
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
