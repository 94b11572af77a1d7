import { isRawNumber, parseJson } from "../text/json.ts";
import type { AttributeValue, Span } from "./span.ts";
import type { Json } from "./trajectory.ts";

type Kind = Span["kind"];

const KINDS: readonly Kind[] = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/**
 * Reads a line of a span file: a span as the kit's file exporter writes it, or spans as OTLP/JSON (`resourceSpans`).
 *
 * @returns the spans of the line, or null when it is none of the two
 */
export function parseLine(text: string): Span[] | null {
  let value: unknown;
  try {
    value = needsExactNumbers(text) ? parseJson(text, { floats: true }) : JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  if (Array.isArray(value.resourceSpans)) return otlpSpans(value.resourceSpans);
  const span = exporterSpan(value, text);
  return span === null ? null : [span];
}

/** Only where a number is itself an input or output its exact text can come into a result; reading it so is slow. */
function needsExactNumbers(text: string): boolean {
  return /"(?:in|out)put\.value":\s*-?\d/.test(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function exporterSpan(value: Record<string, unknown>, text: string): Span | null {
  const traceId = idOf(value.trace_id);
  const spanId = idOf(value.span_id);
  if (traceId === null || spanId === null) return null;
  const events = Array.isArray(value.events) ? value.events.filter(isObject) : [];
  return {
    name: typeof value.name === "string" ? value.name : "",
    kind: KINDS.find((kind) => kind === value.kind) ?? "UNSPECIFIED",
    traceId,
    spanId,
    parentSpanId: idOf(value.parent_span_id),
    startTime: exactTime(value.start_time, "start_time", text),
    endTime: exactTime(value.end_time, "end_time", text),
    attributes: isObject(value.attributes) ? (value.attributes as Record<string, AttributeValue>) : {},
    status: statusOf(value.status),
    statusDescription: typeof value.status_description === "string" ? value.status_description : null,
    events: events.map((event) => ({
      name: typeof event.name === "string" ? event.name : "",
      time: 0n,
      attributes: isObject(event.attributes) ? (event.attributes as Record<string, AttributeValue>) : {},
    })),
  };
}

function idOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.toLowerCase() : null;
}

function statusOf(value: unknown): Span["status"] {
  return value === "ERROR" || value === "OK" ? value : "UNSET";
}

/** Nanoseconds exceed what a JavaScript number holds: their digits are taken from the line itself. */
function exactTime(value: unknown, key: string, text: string): bigint {
  if (isRawNumber(value)) return wholeNumber(value.rawJSON);
  if (typeof value === "string") return wholeNumber(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return 0n;
  if (Number.isSafeInteger(value)) return BigInt(value);
  for (const match of text.matchAll(new RegExp(`"${key}":\\s*(\\d+)`, "g"))) {
    if (Number(match[1]) === value) return BigInt(match[1]!);
  }
  return BigInt(Math.trunc(value));
}

function wholeNumber(text: string): bigint {
  return /^-?\d{1,30}$/.test(text) ? BigInt(text) : 0n;
}

// OTLP/JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

function otlpSpans(resources: readonly unknown[]): Span[] {
  const spans: Span[] = [];
  for (const resource of resources) {
    if (!isObject(resource)) continue;
    const scopes = resource.scopeSpans ?? resource.instrumentationLibrarySpans;
    for (const scope of Array.isArray(scopes) ? scopes : []) {
      if (!isObject(scope) || !Array.isArray(scope.spans)) continue;
      for (const value of scope.spans) {
        const span = isObject(value) ? otlpSpan(value) : null;
        if (span !== null) spans.push(span);
      }
    }
  }
  return spans;
}

function otlpSpan(value: Record<string, unknown>): Span | null {
  const traceId = otlpId(value.traceId, 32);
  const spanId = otlpId(value.spanId, 16);
  if (traceId === null || spanId === null) return null;
  const status = isObject(value.status) ? value.status : {};
  const events = Array.isArray(value.events) ? value.events.filter(isObject) : [];
  return {
    name: typeof value.name === "string" ? value.name : "",
    kind: otlpKind(value.kind),
    traceId,
    spanId,
    parentSpanId: otlpId(value.parentSpanId, 16),
    startTime: otlpTime(value.startTimeUnixNano),
    endTime: otlpTime(value.endTimeUnixNano),
    attributes: otlpAttributes(value.attributes),
    status: otlpStatus(status.code),
    statusDescription: typeof status.message === "string" ? status.message : null,
    events: events.map((event) => ({
      name: typeof event.name === "string" ? event.name : "",
      time: otlpTime(event.timeUnixNano),
      attributes: otlpAttributes(event.attributes),
    })),
  };
}

/** Hex as OTLP/JSON says; base64 as some exporters write it all the same. */
function otlpId(value: unknown, digits: number): string | null {
  if (typeof value !== "string" || value === "") return null;
  if (/^[0-9a-fA-F]+$/.test(value) && value.length === digits) return value.toLowerCase();
  const bytes = Buffer.from(value, "base64");
  return bytes.length === digits / 2 ? bytes.toString("hex") : value.toLowerCase();
}

function otlpKind(value: unknown): Kind {
  if (typeof value === "number") return KINDS[value] ?? "UNSPECIFIED";
  if (typeof value !== "string") return "UNSPECIFIED";
  return KINDS.find((kind) => value === kind || value === `SPAN_KIND_${kind}`) ?? "UNSPECIFIED";
}

function otlpStatus(code: unknown): Span["status"] {
  if (code === 2 || code === "STATUS_CODE_ERROR" || code === "ERROR") return "ERROR";
  return code === 1 || code === "STATUS_CODE_OK" || code === "OK" ? "OK" : "UNSET";
}

function otlpTime(value: unknown): bigint {
  if (typeof value === "string") return wholeNumber(value);
  return typeof value === "number" && Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

function otlpAttributes(list: unknown): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const item of Array.isArray(list) ? list : []) {
    if (isObject(item) && typeof item.key === "string") attributes[item.key] = otlpValue(item.value);
  }
  return attributes;
}

function otlpValue(value: unknown): AttributeValue {
  if (!isObject(value)) return null;
  if (typeof value.stringValue === "string") return value.stringValue;
  if (typeof value.boolValue === "boolean") return value.boolValue;
  if (typeof value.doubleValue === "number" || typeof value.doubleValue === "string")
    return Number(value.doubleValue);
  if (typeof value.intValue === "number") return value.intValue;
  if (typeof value.intValue === "string") {
    const whole = wholeNumber(value.intValue);
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (isObject(value.arrayValue)) {
    const { values } = value.arrayValue;
    return Array.isArray(values) ? values.map(otlpValue) : [];
  }
  if (isObject(value.kvlistValue)) return otlpAttributes(value.kvlistValue.values);
  if (typeof value.bytesValue === "string") return value.bytesValue;
  return null;
}

/** An attribute as a JSON value: integers beyond 2^53 keep their digits. */
export function attributeJson(value: AttributeValue): Json {
  return typeof value === "bigint" ? (parseJson(String(value)) as Json) : (value as Json);
}
