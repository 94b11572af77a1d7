/** Spans after OpenTelemetry's conventions for generative AI, written to the file that BAT_SPANS_FILE names. */
import { appendFileSync } from "node:fs";
import { type Attributes, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-node";

/** What spans hide: with anything but "none", all that was said. */
const PRIVACY: string = "__PRIVACY__";

const KINDS = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
const STATUSES = ["UNSET", "OK", "ERROR"];

/** One JSON line a span, as soon as it ends. */
class FileExporter implements SpanExporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  export(spans: ReadableSpan[], done: (result: { code: number; error?: Error }) => void): void {
    try {
      for (const span of spans) appendFileSync(this.#file, `${lineOf(span)}\n`);
      done({ code: 0 });
    } catch (error) {
      done({ code: 1, error: error as Error });
    }
  }

  async shutdown(): Promise<void> {}
}

function lineOf(span: ReadableSpan): string {
  // Nanoseconds do not fit a JavaScript number: they are put together as text.
  const time = ([seconds, nanos]: readonly [number, number]) => `${seconds}${String(nanos).padStart(9, "0")}`;
  const { traceId, spanId } = span.spanContext();
  const fields = {
    name: span.name,
    kind: KINDS[span.kind],
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: span.parentSpanContext?.spanId ?? null,
    attributes: span.attributes,
    status: STATUSES[span.status.code],
    status_description: span.status.message ?? null,
    events: span.events.map(({ name, attributes }) => ({ name, attributes })),
  };
  const times = `"start_time":${time(span.startTime)},"end_time":${time(span.endTime)}`;
  return `{${times},${JSON.stringify(fields).slice(1)}`;
}

const file = process.env.BAT_SPANS_FILE;
new NodeTracerProvider({
  spanProcessors: file ? [new SimpleSpanProcessor(new FileExporter(file))] : [],
}).register();

const tracer = trace.getTracer("agent");

/** Attributes that say what was said; none where that is to be hidden. */
export function content(attributes: Attributes): Attributes {
  return PRIVACY === "none" ? attributes : {};
}

/** Does something within a span; what it throws is recorded. */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return await tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const { name: type, message } = error as Error;
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: PRIVACY === "none" ? `${type}: ${message}` : type,
      });
      throw error;
    } finally {
      span.end();
    }
  });
}
