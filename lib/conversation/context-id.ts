import { createHash } from "node:crypto";

/**
 * The id of the conversation that an attempt holds: `<task>__try<n>`, with `~2`, `~3` … when the attempt is begun anew,
 * for an agent may remember what reached it before.
 *
 * @param form `uuid` for servers that take nothing else: a UUID made from the same text
 */
export function contextIdFor(
  task: string,
  attempt: number,
  generation: number,
  form: "plain" | "uuid",
): string {
  const plain = `${task}__try${attempt}${generation > 1 ? `~${generation}` : ""}`;
  return form === "uuid" ? nameUuid(plain) : plain;
}

/** A UUID of version 8 (RFC 9562) made from a name. */
function nameUuid(name: string): string {
  const bytes = createHash("sha256").update(`bat conversation ${name}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
