/**
 * Writes changes into a folder as a process of its own: `node _writer.ts FOLDER CHANGES AT`. Before its AT-th step that
 * changes something on the disk it kills itself; 0 for never.
 */
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { FileChange } from "../lib/edit/write.ts";

const [, , root = "", changes = "[]", at = "0"] = process.argv;
let step = 0;
const functions = promises as unknown as Record<string, (...words: unknown[]) => unknown>;
for (const name of ["open", "rename", "link", "rm", "mkdir"]) {
  const real = functions[name]!;
  functions[name] = (...words) => {
    if (name !== "open" || words[1] === "wx") step += 1;
    if (step === Number(at) && at !== "0") process.kill(process.pid, "SIGKILL");
    return real(...words);
  };
}
syncBuiltinESMExports();
const { writeChanges } = await import("../lib/edit/write.ts");
try {
  await writeChanges(JSON.parse(changes) as FileChange[], { root, cwd: root, stdout: process.stdout });
} catch (error) {
  if (at === "0") process.stderr.write(`${(error as Error).message}\n`);
}
