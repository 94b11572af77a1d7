import { mapTaskState } from "../../lib/conversation/task-state.ts";
import type { StepDraft } from "../../lib/plugin/define.ts";
import type { Span } from "../../lib/trace/span.ts";
import { anyText, firstOf, textOf } from "./_attributes.ts";

/** A call of another agent: an `invoke_agent` span of kind CLIENT. */
export function readAgentCall(span: Span): StepDraft | null {
  const { attributes } = span;
  if (attributes["gen_ai.operation.name"] !== "invoke_agent" || span.kind !== "CLIENT") return null;
  const state = textOf(attributes["bat.a2a.task_state"]);
  return {
    kind: "agent",
    agent: textOf(attributes["gen_ai.agent.name"]),
    asked: anyText(firstOf(attributes, ["input.value"])),
    answered: anyText(firstOf(attributes, ["output.value"])),
    status: state === null ? null : mapTaskState(state),
  };
}
