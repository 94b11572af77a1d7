/** An attribute's value: as the span file has it, integers beyond 2^53 as bigint. */
export type AttributeValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | AttributeValue[]
  | { [key: string]: AttributeValue };

/** A span, whatever form of line it was read from. Times are unix nanoseconds. */
export interface Span {
  name: string;
  kind: "INTERNAL" | "CLIENT" | "SERVER" | "PRODUCER" | "CONSUMER" | "UNSPECIFIED";
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  startTime: bigint;
  endTime: bigint;
  attributes: Readonly<Record<string, AttributeValue>>;
  status: "UNSET" | "OK" | "ERROR";
  statusDescription: string | null;
  events: readonly { name: string; time: bigint; attributes: Readonly<Record<string, AttributeValue>> }[];
}
