/** Serves the agent over A2A: `npm start`. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { AgentCard, type Part, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { answer } from "./agent.ts";
import { host, port } from "./settings.ts";
import { inSpan } from "./telemetry.ts";

const described = JSON.parse(readFileSync(new URL("../agent.json", import.meta.url), "utf8")) as {
  name: string;
};
const card = AgentCard.fromJSON({
  ...described,
  supportedInterfaces: [
    { url: `http://${host}:${port}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
});

const executor: AgentExecutor = {
  async execute(context, bus) {
    const { contextId } = context;
    begin(context, bus);
    tell(context, bus, TaskState.TASK_STATE_WORKING, "Thinking");
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": described.name,
      "gen_ai.conversation.id": contextId,
    };
    try {
      const said = await inSpan(`invoke_agent ${described.name}`, attributes, () =>
        answer(contextId, textOf(context.userMessage.parts)),
      );
      give(context, bus, said);
      tell(context, bus, TaskState.TASK_STATE_COMPLETED);
    } catch (error) {
      console.error(error);
      tell(context, bus, TaskState.TASK_STATE_FAILED, `The agent failed (${(error as Error).name})`);
    }
    bus.finished();
  },
  // Answers are short: there is nothing to stop.
  cancelTask: async () => {},
};

function textOf(parts: readonly Part[]): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}

function textPart(text: string): Part {
  return {
    content: { $case: "text", value: text },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  };
}

function begin({ taskId: id, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): void {
  const status = {
    state: TaskState.TASK_STATE_SUBMITTED,
    message: undefined,
    timestamp: new Date().toISOString(),
  };
  bus.publish(
    AgentEvent.task({ id, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }),
  );
}

function tell(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  state: TaskState,
  text = "",
): void {
  const message = {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: 2, // the agent
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const status = { state, message: text === "" ? undefined : message, timestamp: new Date().toISOString() };
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
}

function give({ taskId, contextId }: RequestContext, bus: ExecutionEventBus, text: string): void {
  const artifact = {
    artifactId: randomUUID(),
    name: "answer",
    description: "",
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  };
  bus.publish(
    AgentEvent.artifactUpdate({
      taskId,
      contextId,
      artifact,
      append: false,
      lastChunk: true,
      metadata: undefined,
    }),
  );
}

const rpc = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    const found = request.url === "/.well-known/agent-card.json" || request.url === "/ping";
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(request.url === "/ping" ? '"pong"' : found ? JSON.stringify(AgentCard.toJSON(card)) : "{}");
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = request.headers["a2a-version"];
  const requestedVersion = Array.isArray(asked) ? asked[0] : asked;
  const context = new ServerCallContext(requestedVersion === undefined ? {} : { requestedVersion });
  const reply = await rpc.handle(Buffer.concat(chunks).toString("utf8"), context);
  if (!(Symbol.asyncIterator in reply)) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(reply));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for await (const event of reply) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(port, host, () => console.log(`${described.name} at http://${host}:${port}/`));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
