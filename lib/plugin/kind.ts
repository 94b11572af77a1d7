import type { GenericSchema } from "valibot";

/** What the loader must know of a kind of plugin. One file under `kinds/` each; the file's name is its folder's name. */
export interface PluginKind {
  /** One of them, for messages: `check`. */
  noun: string;
  /** What a definition must look like. */
  schema: GenericSchema;
  /** Something two plugins must not share beside their id: a check's field. */
  unique?: { what: string; of(definition: unknown): string };
}
