/**
 * For authors of plugins: `import { defineCheck } from "bat-toolkit"`.
 *
 * A check is one file whose default export is `defineCheck({…})`; its id is the file's name.
 */
export type { AgentClient, AgentEvent, AgentTarget, Conversation, TaskState } from "../conversation/event.ts";
export type { Span } from "../trace/span.ts";
export type { Json, Step, Trajectory } from "../trace/trajectory.ts";
export * from "./define.ts";
