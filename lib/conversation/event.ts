/** State of an A2A task reduced to what verdicts speak of (see `mapTaskState` for the mapping). */
export type TaskState = "working" | "input-required" | "completed" | "error";

/** Why an attempt's stream did not end as it should. */
export type ProblemCode =
  | "transport" // connection refused, reset or cut; an HTTP error status
  | "protocol" // what came is not A2A: broken JSON, an unknown event, an error answer of the server
  | "ended-early" // the stream ended without a terminal event
  | "idle" // no event for the turn timeout
  | "timeout" // the attempt's own time limit
  | "oversized" // an event larger than is read
  | "agent-exited" // the agent's process ended
  | "canceled"; // the run was stopped

/**
 * What an agent says, whatever the protocol. Final status and final output are decided on a list of these alone.
 *
 * `state` of a status is the raw state mapped; `text` is the text parts joined. An artifact with `append` adds to the
 * artifact of that id, else it replaces. A message with the id of an earlier one replaces or continues it.
 */
export type AgentEvent =
  | { kind: "status"; state: TaskState; text: string; taskId?: string; rawState?: string }
  | { kind: "artifact"; id: string; append: boolean; last: boolean; text: string; taskId?: string }
  | { kind: "message"; id: string; text: string; taskId?: string }
  /** `refused`: nothing of the turn can have reached the agent. */
  | {
      kind: "problem";
      code: ProblemCode;
      name: string;
      message: string;
      beforeFirstEvent?: boolean;
      refused?: boolean;
    };

/** One turn of the user, as a protocol sends it. */
export interface OutgoingTurn {
  text: string;
  /** W3C `traceparent` header of ours for this turn; goes into the HTTP header only. */
  traceparent: string;
}

export interface SendOptions {
  signal: AbortSignal;
}

/** One conversation (context) with an agent. Turns are sent one after the other. */
export interface Conversation {
  /** The conversation's id; an agent may give it another than it was begun with. */
  readonly contextId?: string;
  /**
   * Sends one turn and yields what the agent says until the answer ends. Never throws for what the agent or the network
   * does: that is a `problem` event, the last one. An abort of `signal` ends the iteration at once.
   */
  send(turn: OutgoingTurn, options: SendOptions): AsyncIterable<AgentEvent>;
  close(): Promise<void>;
}

/** A connection to one agent, made once and used for all its conversations. */
export interface AgentClient {
  /** What the agent says of itself (its card's name), for messages. */
  readonly name: string;
  /** Facts about the connection to be kept in the run: protocol version spoken, interface used, streaming or not. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
  converse(contextId: string): Conversation;
  close(): Promise<void>;
}

/** Where an agent answers. */
export interface AgentTarget {
  /** Base URL, no trailing slash. */
  url: string;
  /** Forces the protocol's version (`agent.protocol_version`). */
  protocolVersion?: string;
}
