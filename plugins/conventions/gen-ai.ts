import { defineConvention, type StepDraft } from "../../lib/plugin/define.ts";
import type { AttributeValue, Span } from "../../lib/trace/span.ts";
import type { Json } from "../../lib/trace/trajectory.ts";
import { readAgentCall } from "./_agent-call.ts";
import { anyText, countOf, firstOf, isJsonObject, jsonOf, spoken, textOf } from "./_attributes.ts";

/**
 * OpenTelemetry's semantic conventions for generative AI, in their present and older names, with the attributes of
 * frameworks that put contents elsewhere.
 *
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
export default defineConvention({
  apiVersion: 1,
  title: "OpenTelemetry GenAI",
  order: 20,
  read(span) {
    switch (span.attributes["gen_ai.operation.name"]) {
      case "chat":
      case "generate_content":
      case "text_completion":
        return readModel(span);
      case "execute_tool":
        return readTool(span);
      default:
        return readAgentCall(span);
    }
  },
  conversation: ({ attributes }) =>
    textOf(firstOf(attributes, ["gen_ai.conversation.id", "gcp.vertex.agent.session_id", "session.id"])),
});

function readModel(span: Span): StepDraft {
  const { attributes } = span;
  const count = (...names: string[]) => countOf(firstOf(attributes, names));
  const messages = outputMessages(span);
  return {
    kind: "model",
    model: textOf(firstOf(attributes, ["gen_ai.response.model", "gen_ai.request.model"])),
    tokens_in: count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    tokens_out: count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    tokens_cached: count(
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.details.cache_read_tokens",
    ),
    reasoning_tokens: count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.details.reasoning_tokens"),
    said: spoken(messages.flatMap(textsOf)),
    decisions: messages.flatMap(callsOf),
  };
}

type Message = { [key: string]: Json };

function outputMessages({ attributes, events }: Span): Message[] {
  const whole = jsonOf(firstOf(attributes, ["gen_ai.output.messages", "gen_ai.completion"]));
  if (whole !== undefined) return (Array.isArray(whole) ? whole : [whole]).filter(isJsonObject);
  const told: Message[] = [];
  for (const event of events) {
    if (event.name === "gen_ai.choice") {
      const message =
        jsonOf(firstOf(event.attributes, ["message", "gen_ai.choice.message"])) ??
        jsonOf(event.attributes.content);
      if (isJsonObject(message)) told.push(message);
      else if (typeof event.attributes.content === "string") told.push({ content: event.attributes.content });
    } else if (event.name === "gen_ai.client.inference.operation.details") {
      const messages = jsonOf(event.attributes["gen_ai.output.messages"]);
      if (Array.isArray(messages)) told.push(...messages.filter(isJsonObject));
    }
  }
  return told;
}

/** `parts` of the present form, `content` (a text or blocks) of the older ones. */
function partsOf(message: Message): Json[] {
  if (Array.isArray(message.parts)) return message.parts;
  if (Array.isArray(message.content)) return message.content;
  return typeof message.content === "string" ? [{ type: "text", content: message.content }] : [];
}

function textsOf(message: Message): string[] {
  return partsOf(message).flatMap((part) => {
    if (typeof part === "string") return [part];
    if (!isJsonObject(part) || (part.type !== undefined && part.type !== "text")) return [];
    const text = part.content ?? part.text;
    return typeof text === "string" && text !== "" ? [text] : [];
  });
}

function callsOf(message: Message): { id: string | null; name: string; args: Json | undefined }[] {
  const listed = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const parts = partsOf(message).filter(
    (part) => isJsonObject(part) && (part.type === "tool_call" || part.type === "tool_use"),
  );
  return [...parts, ...listed].flatMap((call) => {
    if (!isJsonObject(call)) return [];
    const inner = isJsonObject(call.function) ? call.function : call;
    if (typeof inner.name !== "string") return [];
    const id = typeof call.id === "string" ? call.id : null;
    return [{ id, name: inner.name, args: objectOf(inner.arguments ?? inner.input ?? inner.args) }];
  });
}

function objectOf(value: AttributeValue | Json | undefined): Json | undefined {
  const parsed = jsonOf(value as AttributeValue | undefined);
  return isJsonObject(parsed) ? parsed : undefined;
}

const ARGUMENTS = [
  "gen_ai.tool.call.arguments",
  "gcp.vertex.agent.tool_call_args",
  "tool_arguments",
  "input.value",
];
const RESULTS = [
  "gen_ai.tool.call.result",
  "gcp.vertex.agent.tool_response",
  "tool_response",
  "output.value",
];
/** What frameworks write where they have nothing to say. */
const NOTHING = new Set([
  "",
  "N/A",
  "<not specified>",
  '{"result": "<not specified>"}',
  "<not serializable>",
]);

function readTool(span: Span): StepDraft | null {
  const { attributes } = span;
  const name = textOf(attributes["gen_ai.tool.name"]) ?? span.name.replace(/^execute_tool\s+/, "");
  // A synthetic span that stands for several calls, each of which has a span of its own.
  if (/^\(merged/.test(name)) return null;
  const callId = textOf(attributes["gen_ai.tool.call.id"]);
  return {
    kind: "tool",
    name,
    args: objectOf(firstOf(attributes, ARGUMENTS)) ?? eventArguments(span),
    result: resultText(firstOf(attributes, RESULTS)) ?? eventResult(span),
    callId: callId === null || NOTHING.has(callId) ? null : callId,
  };
}

function eventArguments({ events }: Span): Json | undefined {
  const told = events.find((event) => event.name === "gen_ai.tool.message");
  return told === undefined ? undefined : objectOf(firstOf(told.attributes, ["arguments", "content"]));
}

function eventResult({ events }: Span): string | null {
  const told = events.find((event) => event.name === "gen_ai.choice");
  return told === undefined ? null : resultText(firstOf(told.attributes, ["message", "content"]));
}

function resultText(value: AttributeValue | undefined): string | null {
  const text = anyText(value);
  return text === null || NOTHING.has(text) ? null : text;
}
