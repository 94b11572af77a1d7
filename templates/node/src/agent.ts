/** What the agent does with a message: change this file first. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  tool,
  wrapLanguageModel,
} from "ai";
import { modelName, modelServer, provider } from "./settings.ts";
import { content, inSpan } from "./telemetry.ts";

const INSTRUCTIONS = "You are a helpful assistant. Answer briefly and in plain text.";

/** Most calls of the model for one message. */
const MOST_STEPS = 8;

/** What the model may use. Each is a function of its arguments. */
const TOOLS = {
  clock: tool({
    description: "The time now, in ISO 8601",
    inputSchema: jsonSchema<Record<string, never>>({
      type: "object",
      properties: {},
      additionalProperties: false,
    }),
    execute: (args) => traced("clock", args, async () => new Date().toISOString()),
  }),
};

/** Earlier messages of each conversation; they are forgotten when the process ends. */
const conversations = new Map<string, ModelMessage[]>();

/** The agent's answer to a message of a conversation. */
export async function answer(conversation: string, text: string, model = theModel()): Promise<string> {
  const earlier = conversations.get(conversation) ?? [];
  const asked: ModelMessage = { role: "user", content: text };
  const { text: said, response } = await generateText({
    model,
    instructions: INSTRUCTIONS,
    messages: [...earlier, asked],
    tools: TOOLS,
    stopWhen: isStepCount(MOST_STEPS),
  });
  conversations.set(conversation, [...earlier, asked, ...response.messages]);
  return said;
}

function theModel(): LanguageModel {
  const server = createOpenAICompatible({ name: provider, ...modelServer() });
  return withSpans(server.chatModel(modelName));
}

/** A model each of whose calls is a span. */
export function withSpans(model: Parameters<typeof wrapLanguageModel>[0]["model"]): LanguageModel {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ doGenerate }) =>
        inSpan(
          `chat ${modelName}`,
          {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": modelName,
          },
          async (span) => {
            const result = await doGenerate();
            const { inputTokens, outputTokens } = result.usage;
            span.setAttributes({
              "gen_ai.usage.input_tokens": inputTokens.total ?? 0,
              "gen_ai.usage.output_tokens": outputTokens.total ?? 0,
              "gen_ai.usage.cache_read.input_tokens": inputTokens.cacheRead ?? 0,
              "gen_ai.usage.reasoning.output_tokens": outputTokens.reasoning ?? 0,
              ...content({
                "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: partsOf(result) }]),
              }),
            });
            return result;
          },
        ),
    },
  });
}

function partsOf(result: { content: readonly { type: string }[] }): object[] {
  return result.content.flatMap<object>((part) => {
    if (part.type === "text")
      return [{ type: "text", content: (part as { type: string; text: string }).text }];
    if (part.type !== "tool-call") return [];
    const { toolCallId, toolName, input } = part as unknown as Record<string, string>;
    return [{ type: "tool_call", id: toolCallId, name: toolName, arguments: JSON.parse(input || "{}") }];
  });
}

/** A call of a tool, in a span. */
async function traced(name: string, args: unknown, work: () => Promise<string>): Promise<string> {
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    ...content({ "gen_ai.tool.call.arguments": JSON.stringify(args) }),
  };
  return await inSpan(`execute_tool ${name}`, attributes, async (span) => {
    const result = await work();
    span.setAttributes(content({ "gen_ai.tool.call.result": result }));
    return result;
  });
}
