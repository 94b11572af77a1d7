import { buildTurn } from "./build.ts";
import { parseLine } from "./parse-line.ts";
import { SpanFileReader } from "./reader.ts";
import { type NamedConvention, recordOf, type SpanRecord } from "./record.ts";
import type { Span } from "./span.ts";
import { toolCallsOf, totalsOf } from "./steps.ts";
import type { ToolCall, Trajectory, Turn } from "./trajectory.ts";

/** Whose spans are asked for. */
export interface ConversationQuery {
  conversation: string;
  /** The user's texts. */
  turns: readonly string[];
  /** The trace and span id that we sent with each turn. */
  sent?: readonly { traceId: string; spanId: string }[];
  /** When each turn was held, unix nanoseconds; given only where no other conversation ran beside it. */
  windows?: readonly { from: bigint; to: bigint }[];
}

export interface IndexStats {
  bytes: number;
  spans: number;
  skippedLines: number;
}

interface Trace {
  id: string;
  spans: Map<string, SpanRecord>;
  /** Ids that the trace's agent roots without parent carry. */
  roots: SpanRecord[];
  conversations: Set<string>;
  start: bigint;
  /** Whether anything an agent did is in it; traces of mere plumbing are not. */
  matters: boolean;
}

export interface IndexOptions {
  /** Spans written before now are none of ours: files are read from their present ends. */
  onlyNew?: boolean;
  /** Traces to keep; others are not kept at all. */
  wants?: (traceId: string) => boolean;
  /** Only who is there: traces are known by their ids and conversations, steps are not kept. */
  onlyNames?: boolean;
}

/** How many traces that nobody has asked for are kept. */
const MOST_TRACES = 50_000;
/** How many traces that were released are remembered, so that their late spans are dropped. */
const MOST_RELEASED = 10_000;

/**
 * Spans by trace and by conversation, read from files as they grow. Nothing is read twice, inputs are not kept, and what
 * was released is forgotten.
 */
export class SpanIndex {
  readonly #reader: SpanFileReader;
  readonly #conventions: readonly NamedConvention[];
  readonly #wants: ((traceId: string) => boolean) | null;
  readonly #onlyNames: boolean;
  readonly #traces = new Map<string, Trace>();
  readonly #byConversation = new Map<string, Set<Trace>>();
  readonly #released = new Set<string>();
  #reading: Promise<number> | null = null;
  #order = 0;
  #spans = 0;
  #broken = 0;

  /**
   * @param paths files, or directories whose `*.jsonl` are read
   * @param conventions asked in their order
   */
  constructor(paths: readonly string[], conventions: readonly NamedConvention[], options: IndexOptions = {}) {
    this.#reader = new SpanFileReader(paths);
    this.#conventions = [...conventions].sort((a, b) => a.definition.order - b.definition.order);
    this.#wants = options.wants ?? null;
    this.#onlyNames = options.onlyNames === true;
    if (options.onlyNew === true) this.#reader.skipExisting();
  }

  get stats(): IndexStats {
    return {
      bytes: this.#reader.bytes,
      spans: this.#spans,
      skippedLines: this.#broken + this.#reader.skippedLines,
    };
  }

  get files(): string[] {
    return this.#reader.files();
  }

  /** Reads what was written since. Calls at the same time share one reading. Resolves to the bytes read. */
  refresh(): Promise<number> {
    this.#reading ??= this.#reader
      .read((line) => this.#takeLine(line))
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Reads all there is, a last line without newline included: for files that nobody writes to any more. */
  async readAll(): Promise<void> {
    while ((await this.refresh()) > 0);
    this.#reader.finish((line) => this.#takeLine(line));
  }

  close(): void {
    this.#reader.close();
  }

  #takeLine(line: string): void {
    if (line.trim() === "") return;
    const spans = readable(() => parseLine(line));
    if (spans === null) this.#broken += 1;
    else for (const span of spans) this.#takeSpan(span);
  }

  #takeSpan(span: Span): void {
    this.#spans += 1;
    if (this.#released.has(span.traceId)) return;
    if (this.#wants !== null && !this.#wants(span.traceId)) return;
    const record = readable(() => recordOf(span, this.#order++, this.#conventions));
    if (record === null) {
      this.#broken += 1;
      return;
    }
    const trace = this.#trace(span);
    if (!this.#onlyNames) trace.spans.set(record.spanId, record);
    if (trace.start > record.start && record.start > 0n) trace.start = record.start;
    if (record.draft !== null || record.isAgentRoot || record.failed) trace.matters = true;
    if (this.#onlyNames) record.draft = null;
    const root = record.isAgentRoot ? trace.roots.findIndex(({ spanId }) => spanId === record.spanId) : -1;
    if (root !== -1) trace.roots[root] = record;
    else if (record.isAgentRoot) trace.roots.push(record);
    for (const id of [record.rootConversation, record.conversation])
      if (id !== null) this.#noteConversation(trace, id);
  }

  #trace(span: Span): Trace {
    let trace = this.#traces.get(span.traceId);
    if (trace === undefined) {
      const { traceId: id, startTime: start } = span;
      trace = { id, spans: new Map(), roots: [], conversations: new Set(), start, matters: false };
      this.#traces.set(id, trace);
      if (this.#traces.size > MOST_TRACES && this.#wants === null && !this.#onlyNames) this.#forgetOldest();
    }
    return trace;
  }

  #forgetOldest(): void {
    const [oldest] = this.#traces.values();
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(trace: Trace): void {
    this.#traces.delete(trace.id);
    for (const id of trace.conversations) {
      const others = this.#byConversation.get(id);
      others?.delete(trace);
      if (others?.size === 0) this.#byConversation.delete(id);
    }
  }

  #noteConversation(trace: Trace, id: string): void {
    if (trace.conversations.has(id)) return;
    trace.conversations.add(id);
    const traces = this.#byConversation.get(id);
    if (traces === undefined) this.#byConversation.set(id, new Set([trace]));
    else traces.add(trace);
  }

  /** Whether each turn has its root already, by a rule that is better than time. */
  complete(query: ConversationQuery): boolean {
    const { traces } = this.#match({ ...query, windows: [] });
    return query.turns.every((_, i) => {
      const trace = traces[i];
      return trace !== undefined && this.#hasEnded(trace, query.sent?.[i]?.spanId);
    });
  }

  /** The span around all others is written last: without parent, or with the span that we sent as its parent. */
  #hasEnded(trace: Trace, sentSpan: string | undefined): boolean {
    for (const span of trace.spans.values()) {
      if (span.parentId === null || span.parentId === sentSpan) return true;
    }
    return false;
  }

  /** The trace of each turn, by the first rule that finds any; never a guess. */
  #match(query: ConversationQuery): { traces: (Trace | undefined)[]; byTime: boolean } {
    const related = [...(this.#byConversation.get(query.conversation) ?? [])];
    const byRoot = related.flatMap((trace) =>
      trace.roots
        .filter((root) => root.rootConversation === query.conversation && isOutermost(root, query))
        .map((root) => ({ trace, start: root.start, order: root.order })),
    );
    if (byRoot.length > 0)
      return { traces: distinct(byRoot.sort(byStart).map(({ trace }) => trace)), byTime: false };
    const bySent = (query.sent ?? []).map(({ traceId }) => this.#traces.get(traceId));
    if (bySent.some((trace) => trace?.matters === true)) return { traces: bySent, byTime: false };
    const byId = related
      .filter(({ matters }) => matters)
      .map((trace) => ({ trace, start: trace.start, order: 0 }));
    if (byId.length > 0) return { traces: byId.sort(byStart).map(({ trace }) => trace), byTime: false };
    const byTime = (query.windows ?? []).map((window) => this.#onlyTraceWithin(window));
    return { traces: byTime.some((trace) => trace !== undefined) ? byTime : [], byTime: true };
  }

  #onlyTraceWithin({ from, to }: { from: bigint; to: bigint }): Trace | undefined {
    let found: Trace | undefined;
    for (const trace of this.#traces.values()) {
      if (!trace.matters || trace.start < from || trace.start > to) continue;
      if (found !== undefined) return undefined;
      found = trace;
    }
    return found;
  }

  /** What the agent did in a conversation, by what was read so far. */
  trajectory(query: ConversationQuery): { trajectory: Trajectory; toolCalls: ToolCall[]; notes: string[] } {
    const { traces, byTime } = this.#match(query);
    const found = traces.length > 0;
    const count = Math.max(query.turns.length, traces.length);
    let truncated = false;
    const turns: Turn[] = [];
    for (let i = 0; i < count; i += 1) {
      const built =
        traces[i] === undefined ? { steps: [], truncated: false } : buildTurn(traces[i]!.spans.values());
      truncated = truncated || built.truncated;
      turns.push({ user: query.turns[i] ?? null, steps: built.steps });
    }
    const trajectory: Trajectory = { found, turns, totals: totalsOf(turns), truncated };
    if (found && byTime) trajectory.matched = "time";
    return { trajectory, toolCalls: toolCallsOf(turns), notes: this.#notes(query, found, byTime) };
  }

  #notes(query: ConversationQuery, found: boolean, byTime: boolean): string[] {
    if (found) return byTime ? ["The spans were found by time alone: no span names the conversation"] : [];
    const files = this.files;
    const looked = files.length === 0 ? "no span file is there" : `looked at ${files.join(", ")}`;
    return [`No spans found for conversation "${query.conversation}": ${looked}`];
  }

  /** Conversations that any span names, by their start. */
  conversations(): { id: string; turns: number; startTime: bigint }[] {
    const list = [...this.#byConversation].map(([id, traces]) => {
      const held = [...traces].filter(({ roots, matters }) => roots.length > 0 || matters);
      const startTime = held.reduce(
        // biome-ignore lint/complexity/useMathMinMax: these are bigints
        (least, { start }) => (start < least ? start : least),
        held[0]?.start ?? 0n,
      );
      return { id, turns: held.length, startTime };
    });
    return list.filter(({ turns }) => turns > 0).sort((a, b) => (a.startTime < b.startTime ? -1 : 1));
  }

  /** Ids of the traces that belong to a conversation. */
  traceIds(query: ConversationQuery): string[] {
    return this.#match(query).traces.flatMap((trace) => (trace === undefined ? [] : [trace.id]));
  }

  /** Forgets a conversation; spans of it that come later are dropped. */
  release(query: ConversationQuery): void {
    const { traces } = this.#match(query);
    const related = this.#byConversation.get(query.conversation) ?? [];
    const sent = (query.sent ?? []).map(({ traceId }) => this.#traces.get(traceId));
    for (const trace of new Set([...traces, ...related, ...sent])) {
      if (trace === undefined) continue;
      this.#forget(trace);
      this.#dropLater(trace.id);
    }
    for (const { traceId } of query.sent ?? []) this.#dropLater(traceId);
  }

  #dropLater(traceId: string): void {
    this.#released.add(traceId);
    if (this.#released.size <= MOST_RELEASED) return;
    const [oldest] = this.#released;
    if (oldest !== undefined) this.#released.delete(oldest);
  }
}

/** Null for what is nested deeper than can be read: one such span is no reason to lose all that come after it. */
function readable<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function isOutermost(root: SpanRecord, query: ConversationQuery): boolean {
  return root.parentId === null || (query.sent ?? []).some(({ spanId }) => spanId === root.parentId);
}

function byStart(a: { start: bigint; order: number }, b: { start: bigint; order: number }): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.order - b.order;
}

function distinct<T>(list: readonly T[]): T[] {
  return [...new Set(list)];
}
