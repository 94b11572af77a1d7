import { defineConvention, type StepDraft } from "../../lib/plugin/define.ts";
import { pyJson } from "../../lib/text/python-json.ts";
import type { AttributeValue, Span } from "../../lib/trace/span.ts";
import type { Json } from "../../lib/trace/trajectory.ts";
import { readAgentCall } from "./_agent-call.ts";
import { anyText, countOf, isJsonObject, jsonOf, spoken, textOf } from "./_attributes.ts";

/**
 * OpenInference spans, as the agent kit's LangChain instrumentation writes them.
 *
 * Source: https://github.com/Arize-ai/openinference/tree/main/spec
 */
export default defineConvention({
  apiVersion: 1,
  title: "OpenInference",
  order: 10,
  read(span) {
    switch (span.attributes["openinference.span.kind"]) {
      case "LLM":
        return readModel(span);
      case "TOOL":
        return readTool(span);
      default:
        return readAgentCall(span);
    }
  },
  conversation: (span) => textOf(span.attributes["session.id"]),
});

const MESSAGE = /^llm\.output_messages\.(\d+)\.message\.(.+)$/;
const CONTENT_BLOCK = /^contents\.(\d+)\.message_content\.text$/;
const TOOL_CALL = /^tool_calls\.(\d+)\.tool_call\.(id|function\.name|function\.arguments)$/;

interface Message {
  content: string | null;
  blocks: Map<number, string>;
  calls: Map<number, { id?: string; name?: string; args?: AttributeValue }>;
}

function readModel({ attributes }: Span): StepDraft {
  const messages = outputMessages(attributes);
  const said = messages.flatMap(({ content, blocks }) =>
    content === null || content === "" ? inOrder(blocks) : [content],
  );
  const decisions = messages
    .flatMap(({ calls }) => inOrder(calls))
    .flatMap(({ id, name, args }) =>
      name === undefined ? [] : [{ id: id ?? null, name, args: objectOf(args) }],
    );
  return {
    kind: "model",
    model: textOf(attributes["llm.model_name"]),
    tokens_in: countOf(attributes["llm.token_count.prompt"]),
    tokens_out: countOf(attributes["llm.token_count.completion"]),
    tokens_cached: countOf(attributes["llm.token_count.prompt_details.cache_read"]),
    reasoning_tokens: countOf(attributes["llm.token_count.completion_details.reasoning"]),
    said: spoken(said.filter((text) => text !== "")),
    decisions,
  };
}

function outputMessages(attributes: Span["attributes"]): Message[] {
  const messages = new Map<number, Message>();
  for (const [key, value] of Object.entries(attributes)) {
    const [, index, rest = ""] = MESSAGE.exec(key) ?? [];
    if (index === undefined) continue;
    let message = messages.get(Number(index));
    if (message === undefined) {
      message = { content: null, blocks: new Map(), calls: new Map() };
      messages.set(Number(index), message);
    }
    readMessagePart(message, rest, value);
  }
  return inOrder(messages);
}

function readMessagePart(message: Message, part: string, value: AttributeValue): void {
  if (part === "content") {
    if (typeof value === "string") message.content = value;
    return;
  }
  const block = CONTENT_BLOCK.exec(part);
  if (block !== null) {
    if (typeof value === "string") message.blocks.set(Number(block[1]), value);
    return;
  }
  const found = TOOL_CALL.exec(part);
  if (found === null) return;
  const index = Number(found[1]);
  const call = message.calls.get(index) ?? {};
  message.calls.set(index, call);
  if (found[2] === "function.arguments") call.args = value;
  else if (typeof value === "string" && value !== "") call[found[2] === "id" ? "id" : "name"] = value;
}

function inOrder<T>(items: ReadonlyMap<number, T>): T[] {
  return [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
}

function objectOf(value: AttributeValue | undefined): Json | undefined {
  const parsed = jsonOf(value);
  return isJsonObject(parsed) ? parsed : undefined;
}

function readTool(span: Span): StepDraft {
  const { attributes } = span;
  const { text, callId } = readResult(attributes["output.value"]);
  return {
    kind: "tool",
    name: textOf(attributes["tool.name"]) ?? span.name,
    args: toolInput(attributes),
    result: text,
    callId: callId ?? textOf(attributes["tool_call.id"]),
  };
}

/** Arguments are an object; frameworks other than LangGraph may put it inside `input`, as a value or as text. */
function toolInput(attributes: Span["attributes"]): Json | undefined {
  const input = objectOf(attributes["input.value"]);
  if (!isJsonObject(input) || textOf(attributes.metadata)?.includes("langgraph") === true) return input;
  if (Object.keys(input).length !== 1 || input.input === undefined) return input;
  const inner = typeof input.input === "string" ? objectOf(input.input) : input.input;
  return isJsonObject(inner) ? inner : input;
}

interface Result {
  text: string | null;
  callId: string | null;
}

const COMMAND_KEYS = new Set(["graph", "update", "resume", "goto"]);

/** A tool message's content, the tool messages of a graph command, or the value as it is. */
function readResult(value: AttributeValue | undefined): Result {
  const plain: Result = { text: anyText(value), callId: null };
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return plain;
  const parsed = jsonOf(value);
  if (!isJsonObject(parsed)) return plain;
  const message = toolMessage(parsed);
  if (message !== null) return message;
  if (!("update" in parsed) || !Object.keys(parsed).every((key) => COMMAND_KEYS.has(key))) return plain;
  const messages = [...toolMessages(parsed.update ?? null)];
  if (messages.length === 0) return plain;
  return { text: messages.map(({ text }) => text).join("\n"), callId: messages[0]?.callId ?? null };
}

/** `{type: "tool", data: {content, tool_call_id}}`, `{content, tool_call_id}` or another serialised message. */
function toolMessage(value: { [key: string]: Json }): Result | null {
  const data = value.type === "tool" && isJsonObject(value.data) ? value.data : value;
  if (!("content" in data) || !("tool_call_id" in data || typeof data.type === "string")) return null;
  const { content = null, tool_call_id: id } = data;
  return {
    text: typeof content === "string" ? content : pyJson(content),
    callId: typeof id === "string" ? id : null,
  };
}

function* toolMessages(value: Json): Generator<Result> {
  if (Array.isArray(value)) {
    for (const item of value) yield* toolMessages(item);
  } else if (isJsonObject(value)) {
    const message = toolMessage(value);
    if (message !== null) yield message;
    else for (const item of Object.values(value)) yield* toolMessages(item);
  }
}
