import type { FlagSpec } from "../../command.ts";

/** Flags of every manifest. */
export const MANIFEST_FLAGS = {
  output: { type: "string", short: "o", value: "FILE", summary: "Another file than the blueprint's own" },
  name: { type: "string", value: "NAME", summary: "Name in the metadata" },
  namespace: { type: "string", value: "NAME", summary: "Namespace in the metadata" },
  "dry-run": { type: "boolean", summary: "Show the difference and write nothing" },
} as const satisfies Record<string, FlagSpec>;
