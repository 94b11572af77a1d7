/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A call of a language model. Token counts are whole numbers, 0 when the span has none. */
export interface ModelStep {
  kind: "model";
  node: string | null;
  model: string | null;
  tokens_in: number;
  tokens_out: number;
  tokens_cached: number;
  reasoning_tokens: number;
  said: string | null;
  called: string[];
  error: string | null;
}

/** A call of a tool, with the steps that ran inside it. */
export interface ToolStep {
  kind: "tool";
  node: string | null;
  name: string;
  args: Json;
  result: string | null;
  error: string | null;
  steps: Step[];
}

/** A call of another agent; its own steps nest under it where its spans are read. */
export interface AgentStep {
  kind: "agent";
  node: string | null;
  agent: string | null;
  asked: string | null;
  answered: string | null;
  status: string | null;
  error: string | null;
  steps: Step[];
}

/** A failure that no model, tool or agent step already tells. */
export interface ErrorStep {
  kind: "error";
  node: string | null;
  span: string | null;
  error: string;
}

export type Step = ModelStep | ToolStep | AgentStep | ErrorStep;

export interface Turn {
  user: string | null;
  steps: Step[];
}

export interface Totals {
  model_calls: number;
  tokens_in: number;
  tokens_out: number;
  tokens_cached: number;
  tool_calls: number;
  agent_calls: number;
  errors: number;
}

/** What an agent really did in one conversation, read from its spans. Keys are those of the reference's episode files. */
export interface Trajectory {
  found: boolean;
  turns: Turn[];
  totals: Totals;
  truncated: boolean;
  /** Present only when the spans were found by time alone, the weakest rule. */
  matched?: "time";
}

/** A tool call of a trajectory, flat, as `trace.tool_calls` of an episode has it. */
export interface ToolCall {
  name: string;
  args: Json;
  error: string | null;
}
