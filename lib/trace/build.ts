import { cutArguments, type SpanRecord } from "./record.ts";
import type { Json, Step, ToolStep } from "./trajectory.ts";

/** The steps of one trace. */
export interface BuiltTurn {
  steps: Step[];
  truncated: boolean;
}

/**
 * Makes the steps of one turn from the spans of its trace: the four kinds, in start order, nested under the nearest
 * agent call or tool span around them. Impossible input (parents in a circle, missing times) ends all the same.
 */
export function buildTurn(spans: Iterable<SpanRecord>): BuiltTurn {
  const sorted = [...spans].sort(byStart);
  const tree = new SpanTree(sorted);
  const skipped = repeatedSteps(sorted, tree);
  const decisions = new Decisions(sorted.filter((span) => !skipped.has(span)));
  const failedAbove = spansAboveFailures(sorted, tree);
  const steps: Step[] = [];
  const made = new Map<SpanRecord, Step>();
  let truncated = false;
  for (const span of sorted) {
    if (skipped.has(span)) continue;
    const step = stepOf(span, tree, failedAbove);
    if (step === null) continue;
    if (step.kind === "tool" && span.draft?.kind === "tool") {
      truncated = decisions.complete(step, span.draft.args, span.draft.callId, span.convention) || truncated;
    }
    truncated = truncated || span.truncated;
    made.set(span, step);
  }
  for (const [span, step] of made) {
    const container = nearestContainer(span, tree, made);
    (container ?? { steps }).steps.push(step);
  }
  return { steps, truncated };
}

function byStart(a: SpanRecord, b: SpanRecord): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.order - b.order;
}

/** Who is whose parent, for walking up without ever going round. */
class SpanTree {
  readonly #byId = new Map<string, SpanRecord>();
  readonly #nodes = new Map<SpanRecord, string | null>();
  readonly sorted: readonly SpanRecord[];
  #grandchildren: Map<SpanRecord, SpanRecord[]> | null = null;

  constructor(sorted: readonly SpanRecord[]) {
    this.sorted = sorted;
    for (const span of sorted) this.#byId.set(span.spanId, span);
  }

  parent(span: SpanRecord): SpanRecord | undefined {
    return span.parentId === null ? undefined : this.#byId.get(span.parentId);
  }

  /** The spans above one, nearest first. */
  *above(span: SpanRecord): Generator<SpanRecord> {
    const seen = new Set([span]);
    for (let up = this.parent(span); up !== undefined && !seen.has(up); up = this.parent(up)) {
      seen.add(up);
      yield up;
    }
  }

  /** The graph node a span ran in. */
  node(span: SpanRecord): string | null {
    let node = this.#nodes.get(span);
    if (node === undefined) {
      node = this.#findNode(span);
      this.#nodes.set(span, node);
    }
    return node;
  }

  #findNode(span: SpanRecord): string | null {
    const path = [span];
    for (const up of this.above(span)) {
      if (up.isAgentRoot) {
        if (path.length >= 2) return path[path.length - 2]!.name;
        return this.#runningGrandchild(up, span)?.name ?? span.node;
      }
      path.push(up);
    }
    return span.node;
  }

  /** Of the spans two levels below a root, the last begun of those that were running when a span started. */
  #runningGrandchild(root: SpanRecord, span: SpanRecord): SpanRecord | undefined {
    if (this.#grandchildren === null) {
      this.#grandchildren = new Map();
      for (const candidate of this.sorted) {
        const parent = this.parent(candidate);
        const grandparent = parent === undefined ? undefined : this.parent(parent);
        if (grandparent === undefined || !grandparent.isAgentRoot) continue;
        const list = this.#grandchildren.get(grandparent);
        if (list === undefined) this.#grandchildren.set(grandparent, [candidate]);
        else list.push(candidate);
      }
    }
    const candidates = this.#grandchildren.get(root) ?? [];
    return candidates.findLast((one) => one !== span && one.start <= span.start && span.start <= one.end);
  }
}

/** All spans that have a failed one below them. */
function spansAboveFailures(sorted: readonly SpanRecord[], tree: SpanTree): Set<SpanRecord> {
  const above = new Set<SpanRecord>();
  for (const span of sorted) {
    if (!span.failed) continue;
    for (const up of tree.above(span)) {
      if (above.has(up)) break;
      above.add(up);
    }
  }
  return above;
}

/**
 * Spans that tell a call a second time: a framework's wrapper around the same model call, and a tool that two
 * instrumentations saw. The inner one stays and takes over what only the outer one knows.
 */
function repeatedSteps(sorted: readonly SpanRecord[], tree: SpanTree): Set<SpanRecord> {
  const repeated = new Set<SpanRecord>();
  for (const span of sorted) {
    if (span.draft === null) continue;
    for (const up of tree.above(span)) {
      if (up.draft === null) continue;
      const circle = [...tree.above(up)].includes(span);
      if (isSameCall(up, span) && !circle) {
        takeOver(span, up);
        repeated.add(up);
      }
      break;
    }
  }
  return repeated;
}

function isSameCall({ draft: outer, convention }: SpanRecord, inner: SpanRecord): boolean {
  if (outer?.kind === "model") return inner.draft?.kind === "model";
  if (outer?.kind !== "tool" || inner.draft?.kind !== "tool") return false;
  return convention !== inner.convention && outer.name === inner.draft.name;
}

function takeOver(inner: SpanRecord, outer: SpanRecord): void {
  if (inner.draft?.kind === "model" && outer.draft?.kind === "model") {
    const { said, decisions, model } = outer.draft;
    inner.draft = {
      ...inner.draft,
      model: inner.draft.model ?? model,
      said: inner.draft.said ?? said,
      decisions: inner.draft.decisions.length > 0 ? inner.draft.decisions : decisions,
    };
  } else if (inner.draft?.kind === "tool" && outer.draft?.kind === "tool") {
    inner.draft = {
      ...inner.draft,
      args: inner.draft.args ?? outer.draft.args,
      result: inner.draft.result ?? outer.draft.result,
      callId: inner.draft.callId ?? outer.draft.callId,
    };
  }
  inner.error ??= outer.error;
}

function stepOf(span: SpanRecord, tree: SpanTree, aboveFailures: ReadonlySet<SpanRecord>): Step | null {
  const { draft, error } = span;
  if (draft === null) {
    if (!span.failed || aboveFailures.has(span)) return null;
    return { kind: "error", node: tree.node(span), span: span.name, error: error ?? "failed" };
  }
  const node = tree.node(span);
  switch (draft.kind) {
    case "model": {
      const { model, tokens_in, tokens_out, tokens_cached, reasoning_tokens, said, decisions } = draft;
      const called = decisions.map(({ name }) => name);
      return {
        kind: "model",
        node,
        model,
        tokens_in,
        tokens_out,
        tokens_cached,
        reasoning_tokens,
        said,
        called,
        error,
      };
    }
    case "tool":
      return {
        kind: "tool",
        node,
        name: draft.name,
        args: draft.args ?? null,
        result: draft.result,
        error,
        steps: [],
      };
    case "agent": {
      const { agent, asked, answered, status } = draft;
      return { kind: "agent", node, agent, asked, answered, status, error, steps: [] };
    }
  }
}

function nearestContainer(span: SpanRecord, tree: SpanTree, made: ReadonlyMap<SpanRecord, Step>) {
  for (const up of tree.above(span)) {
    const step = made.get(up);
    if (step !== undefined && (step.kind === "tool" || step.kind === "agent")) return step;
  }
  return null;
}

/** The tool calls that models decided on, for tools whose spans do not have their arguments. */
class Decisions {
  readonly #open: { id: string | null; name: string; args: Json | undefined }[];

  constructor(sorted: readonly SpanRecord[]) {
    this.#open = sorted.flatMap(({ draft }) => (draft?.kind === "model" ? draft.decisions : []));
  }

  /**
   * Uses up the decision that a tool call carries out and takes the arguments from it where the span has none.
   *
   * @returns whether the arguments had to be cut
   */
  complete(
    step: ToolStep,
    args: Json | undefined,
    callId: string | null,
    convention: string | null,
  ): boolean {
    const decision = this.#take(step.name, callId, args !== undefined);
    if (args !== undefined) return false;
    if (decision?.args === undefined) {
      // The kit's own reading of a tool without arguments is an empty object; elsewhere they are just not known.
      step.args = convention === "openinference" ? {} : null;
      return false;
    }
    const cut = cutArguments(decision.args);
    step.args = cut.args;
    return cut.truncated;
  }

  #take(name: string, callId: string | null, byIdOnly: boolean) {
    let i = callId === null ? -1 : this.#open.findIndex((decision) => decision.id === callId);
    if (i === -1 && !byIdOnly) i = this.#open.findIndex((decision) => decision.name === name);
    return i === -1 ? undefined : this.#open.splice(i, 1)[0];
  }
}
