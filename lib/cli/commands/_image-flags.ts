import type { FlagSpec } from "../command.ts";

/** Flags that name an image. */
export const IMAGE_FLAGS = {
  "docker-registry": { type: "string", value: "HOST", summary: "Registry that the image belongs to" },
  repo: { type: "string", value: "NAME", summary: "Name of the image in it" },
  version: { type: "string", value: "TAG", summary: "Version of the image" },
} as const satisfies Record<string, FlagSpec>;
