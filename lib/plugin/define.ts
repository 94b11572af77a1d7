import type { LanguageModel } from "ai";
import type { GenericSchema, InferOutput } from "valibot";
import type { AgentClient, AgentTarget, TaskState } from "../conversation/event.ts";
import type { Episode } from "../eval/episode.ts";
import type { RunResult } from "../eval/observer.ts";
import type { Span } from "../trace/span.ts";
import type { Json, Trajectory } from "../trace/trajectory.ts";

/** The version of the plugin contract. */
export const API_VERSION = 1;

/** What a check is given. `trajectory` is there only for checks that declare `needs: ["trajectory"]`. */
export interface CheckInput<T> {
  expected: T;
  status: TaskState;
  output: string;
  trajectory: Trajectory;
}

export interface CheckAnswer {
  ok: boolean;
  reason: string;
}

/** A deterministic check of one field of a task's `expected`. */
export interface CheckPlugin<S extends GenericSchema = GenericSchema> {
  apiVersion: 1;
  title: string;
  /** The key of `expected` that it owns; no two checks own the same. */
  field: string;
  /** What may stand there. */
  schema: S;
  /** Applied when the field is absent; without it an absent field means that the check does not run. */
  default?: InferOutput<S>;
  /** `trajectory`: only decided when spans were found. */
  needs?: readonly "trajectory"[];
  /** False where a given value asks for nothing (`no_errors: false`): the check then is not run and needs no spans. */
  applies?(expected: InferOutput<S>): boolean;
  /** Place in the verdict, ascending; load order decides nothing. */
  order: number;
  run(input: CheckInput<InferOutput<S>>): CheckAnswer | readonly CheckAnswer[];
}

/** A way to talk to an agent. */
export interface ProtocolPlugin {
  apiVersion: 1;
  title: string;
  /** Connects once for a run. Throws a BatError (code `agent`) that says what was tried and what came back. */
  connect(target: AgentTarget, options: { signal: AbortSignal }): Promise<AgentClient>;
}

/** What a convention makes of a span; the index nests, orders, cuts and counts. */
export type StepDraft =
  | {
      kind: "model";
      model: string | null;
      tokens_in: number;
      tokens_out: number;
      tokens_cached: number;
      reasoning_tokens: number;
      said: string | null;
      /** Tool calls the model decided on, in order. */
      decisions: { id: string | null; name: string; args: Json | undefined }[];
    }
  | { kind: "tool"; name: string; args: Json | undefined; result: string | null; callId: string | null }
  | {
      kind: "agent";
      agent: string | null;
      asked: string | null;
      answered: string | null;
      status: string | null;
    };

/** A vocabulary of span attributes. */
export interface ConventionPlugin {
  apiVersion: 1;
  title: string;
  /** Conventions are asked in this order; the first that reads a span decides what it is. */
  order: number;
  /** The step a span stands for, or null where it stands for none. */
  read(span: Span): StepDraft | null;
  /** The id of the conversation a span belongs to, where the span names one. */
  conversation(span: Span): string | null;
}

/** What a provider makes a model from. */
export interface ModelRequest {
  model: string;
  /** Address of the server, where another than the provider's own is meant. */
  baseUrl: string | null;
  /** Null where there is none. Never to be put into a message. */
  apiKey: string | null;
  /** Which of its APIs is wanted, of the provider's `apis`; null leaves it to the provider. */
  api: string | null;
  /**
   * To be given to the model's library where it takes one: it keeps the number of requests at once and their time limit.
   * Without it whole calls are limited instead, which is slower.
   */
  readonly fetch: typeof fetch;
  /** A variable of `judge.env`, the shell or the project's `.env`. */
  variable(name: string): string | undefined;
  /**
   * Imports an npm package, the project's own where it has it, else the one beside bat. Throws a BatError that says how
   * to install it where it is missing.
   */
  load(name: string): Promise<Record<string, unknown>>;
}

/** Where language models are had from; a judge is one. */
export interface ProviderPlugin {
  apiVersion: 1;
  title: string;
  /** The usual variable of its key; null when it needs none. */
  keyVariable: string | null;
  /** Other variables that hold secrets, so that no message shows what is in them. */
  secretVariables?: readonly string[];
  /** npm package that it loads, where that is not one of bat's own; it is named when it is missing. */
  package?: string;
  /** APIs that `judge.api` may choose between. */
  apis?: readonly string[];
  /** The model, as the AI SDK has it. */
  model(request: ModelRequest): Promise<LanguageModel>;
}

/** Writes what a run found in a form that another tool reads. Gets every episode once, in the plan's order. */
export interface ReporterPlugin {
  apiVersion: 1;
  title: string;
  /** What to call the file where the user names only a folder: `junit.xml`. */
  fileName: string;
  /** Text of the report, piece by piece, so that no run is too long for it. */
  report(run: ReportedRun): AsyncIterable<string>;
}

/** One model of the runs that are drawn, from its `metrics.json`. */
export interface PlottedModel {
  /** Name of its folder. */
  name: string;
  episodes: readonly {
    task_id: string;
    success: boolean;
    time: { wall_ms: number };
    tokens: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
    qualitative?: Readonly<Record<string, unknown>>;
  }[];
}

/** A chart: the stem of its file's name and its Vega-Lite specification. */
export interface Plot {
  stem: string;
  spec: object;
}

/** Draws metrics: maps them to Vega-Lite specifications. Size, colours and fonts are the renderer's. */
export interface PlotterPlugin {
  apiVersion: 1;
  title: string;
  /** No chart where there is nothing to draw. */
  plot(models: readonly PlottedModel[]): readonly Plot[];
}

/**
 * A template of LLM clients: `bat add client --template ID` renders it. Placeholders are words such as `__CLIENT__` (the
 * class), each replaced once; `"__WORD__"` as a whole becomes a Python string.
 */
export interface ClientPlugin {
  apiVersion: 1;
  title: string;
  /** Python file: beside the plugin, or for built-in ones in `templates/clients/`. It has a method `ask(query) -> str`. */
  template: string;
  /** Python requirements beside the kit's own that the project must list. */
  requires?: readonly string[];
  /** More placeholders, by their word without underscores. */
  values?(client: { className: string; fileStem: string }): Readonly<Record<string, string>>;
}

/** What a reporter is given. */
export interface ReportedRun {
  id: string;
  /** Results of each model, with the totals of its tasks. */
  result: RunResult;
  /** Episodes of a model (by its index in `result.models`), in the plan's order, read one at a time. */
  episodes(model: number): AsyncIterable<{ file: string; episode: Episode }>;
}

/**
 * Types a check and gives it back.
 *
 * @example
 * ```ts
 * // eval/plugins/checks/max_output_chars.ts
 * import { defineCheck } from "bat-toolkit";
 * import * as v from "valibot";
 *
 * export default defineCheck({
 *   apiVersion: 1,
 *   title: "Answer length",
 *   field: "max_output_chars",
 *   schema: v.pipe(v.number(), v.integer(), v.minValue(0)),
 *   order: 200,
 *   run: ({ expected, output }) => ({
 *     ok: output.length <= expected,
 *     reason: `output: ${output.length} characters, expected at most ${expected}`,
 *   }),
 * });
 * ```
 */
export function defineCheck<const S extends GenericSchema>(check: CheckPlugin<S>): CheckPlugin<S> {
  return check;
}

/** Types a protocol and gives it back. */
export function defineProtocol(protocol: ProtocolPlugin): ProtocolPlugin {
  return protocol;
}

/** Types a convention and gives it back. */
export function defineConvention(convention: ConventionPlugin): ConventionPlugin {
  return convention;
}

/** Types a reporter and gives it back. */
export function defineReporter(reporter: ReporterPlugin): ReporterPlugin {
  return reporter;
}

/** Types a provider and gives it back. */
export function defineProvider(provider: ProviderPlugin): ProviderPlugin {
  return provider;
}

/** Types a plotter and gives it back. */
export function definePlotter(plotter: PlotterPlugin): PlotterPlugin {
  return plotter;
}

/** Types a client and gives it back. */
export function defineClient(client: ClientPlugin): ClientPlugin {
  return client;
}
