import type { SettingsResult } from "../../../settings/config.ts";
import type { World } from "../../command.ts";

/** Says what was, or would be, set. */
export function tell(
  { file, keys, changed, finished }: SettingsResult,
  dryRun: boolean,
  { stdout, stderr }: World,
): void {
  if (finished) stderr.write("An earlier writing here had been killed half-way and is ended now\n");
  const list = keys.join(", ");
  if (!changed) stdout.write(`No changes: ${file} has ${list} so already\n`);
  else if (dryRun) stderr.write(`Would set ${list} in ${file}; nothing was written\n`);
  else stdout.write(`Set ${list} in ${file}\n`);
}
