import type { ConventionPlugin, StepDraft } from "../plugin/define.ts";
import { countCodePoints, firstCodePoints, isLongerThan } from "../text/code-points.ts";
import { isRawNumber } from "../text/json.ts";
import type { AttributeValue, Span } from "./span.ts";
import type { Json } from "./trajectory.ts";

/** Longest text that a step keeps, in code points. */
export const LONGEST_TEXT = 4_000;

/** What is kept of a span: all that a trajectory needs and none of its inputs. */
export interface SpanRecord {
  name: string;
  spanId: string;
  parentId: string | null;
  start: bigint;
  end: bigint;
  /** Order of arrival, for spans that began at the same instant. */
  order: number;
  failed: boolean;
  error: string | null;
  draft: StepDraft | null;
  /** Which convention read it. */
  convention: string | null;
  /** Whether it is the span of an agent answering a request (not of a call of another). */
  isAgentRoot: boolean;
  /** The id in `gen_ai.conversation.id`, of agent roots only. */
  rootConversation: string | null;
  /** The id by which a convention says whose span it is. */
  conversation: string | null;
  /** Graph node named by the span's own metadata. */
  node: string | null;
  truncated: boolean;
}

/** A convention with its id, in the order of asking. */
export interface NamedConvention {
  id: string;
  definition: ConventionPlugin;
}

/** Reduces a span to what is kept of it. */
export function recordOf(span: Span, order: number, conventions: readonly NamedConvention[]): SpanRecord {
  const cut = new Cutter();
  let draft: StepDraft | null = null;
  let convention: string | null = null;
  let conversation: string | null = null;
  for (const { id, definition } of conventions) {
    if (draft === null) {
      draft = definition.read(span);
      if (draft !== null) convention = id;
    }
    conversation ??= definition.conversation(span);
  }
  const isAgentRoot = span.attributes["gen_ai.operation.name"] === "invoke_agent" && span.kind !== "CLIENT";
  const failed = span.status === "ERROR";
  return {
    name: fresh(span.name),
    spanId: span.spanId,
    parentId: span.parentSpanId,
    start: span.startTime,
    end: span.endTime,
    order,
    failed,
    error: failed ? cut.text(errorText(span)) : null,
    draft: draft === null ? null : cutDraft(draft, cut),
    convention,
    isAgentRoot,
    rootConversation: isAgentRoot ? textOrNull(span.attributes["gen_ai.conversation.id"]) : null,
    conversation,
    node: metadataNode(span.attributes.metadata),
    truncated: cut.truncated,
  };
}

function textOrNull(value: AttributeValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** First exception as `Type: message`, else the status without its stack trace, else the bare fact. */
function errorText(span: Span): string {
  const exception = span.events.find((event) => event.name === "exception");
  const type = textOrNull(exception?.attributes["exception.type"]) ?? "";
  const message = textOrNull(exception?.attributes["exception.message"]) ?? "";
  const told = [type, message].filter((part) => part !== "").join(": ");
  if (told !== "") return told;
  const [description = ""] = (span.statusDescription ?? "").split("Traceback", 1);
  return description.trim() === "" ? "failed" : description.trim();
}

function metadataNode(metadata: AttributeValue | undefined): string | null {
  if (typeof metadata !== "string") return null;
  let value: unknown;
  try {
    value = JSON.parse(metadata);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { langgraph_checkpoint_ns: place, langgraph_node: node } = value as Record<string, unknown>;
  if (typeof place === "string" && place !== "") {
    const [first = ""] = (place.split("|", 1)[0] ?? "").split(":", 1);
    if (first !== "") return first;
  }
  return typeof node === "string" && node !== "" ? node : null;
}

/** Cuts texts to what is kept and remembers that it did. */
class Cutter {
  truncated = false;

  text(text: string): string {
    if (!isLongerThan(text, LONGEST_TEXT)) return text;
    this.truncated = true;
    return fresh(`${firstCodePoints(text, LONGEST_TEXT)} …[truncated: ${countCodePoints(text)} chars]`);
  }

  textOrNull(text: string | null): string | null {
    return text === null ? null : this.text(text);
  }

  json(value: Json): Json {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.json(item)]));
  }
}

function cutDraft(draft: StepDraft, cut: Cutter): StepDraft {
  switch (draft.kind) {
    case "model":
      return {
        ...draft,
        said: cut.textOrNull(draft.said),
        // Arguments that a tool step takes over are cut there: not every decision becomes a step.
        decisions: draft.decisions,
      };
    case "tool":
      return {
        ...draft,
        args: draft.args === undefined ? undefined : cut.json(draft.args),
        result: cut.textOrNull(draft.result),
      };
    case "agent":
      return { ...draft, asked: cut.textOrNull(draft.asked), answered: cut.textOrNull(draft.answered) };
  }
}

/** Cuts arguments that a tool takes from a model's decision. */
export function cutArguments(args: Json): { args: Json; truncated: boolean } {
  const cut = new Cutter();
  return { args: cut.json(args), truncated: cut.truncated };
}

/** A text of its own: V8 lets a part of a text keep the whole of it alive, and the whole may be megabytes. */
function fresh(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, "utf16le").toString("utf16le");
}
