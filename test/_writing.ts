import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { type FileChange, writeChanges } from "../lib/edit/write.ts";

/** Program that writes changes as a process of its own. */
export const WRITER = fileURLToPath(new URL("_writer.ts", import.meta.url));
/** Notes an unfinished writing. */
export const NOTE = ".bat-pending.json";

/** A folder that files are written in; gone with `using`. */
export class Folder implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), "bat-write-"));

  path(name: string): string {
    return join(this.dir, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  all(): string[] {
    return readdirSync(this.dir, { recursive: true, encoding: "utf8" }).sort();
  }

  change(changes: readonly FileChange[], dryRun = false): Promise<string[]> & { shown: () => string } {
    const stdout = new PassThrough();
    const written = writeChanges(changes, { root: this.dir, cwd: this.dir, dryRun, stdout });
    return Object.assign(written, { shown: () => String(stdout.read() ?? "") });
  }

  [Symbol.dispose](): void {
    chmodSync(this.dir, 0o755);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The third fails when the first two are in place: a folder has come where a file is to be. */
export function failing(folder: Folder): FileChange[] {
  return [
    {
      path: existsSync(folder.path("a")) ? folder.path("a") : folder.write("a", "1"),
      before: "1",
      after: "2",
    },
    { path: folder.path("gone"), before: null, after: "2" },
    { path: folder.path("x"), before: null, after: "2" },
    { path: folder.path("x/y"), before: null, after: "2" },
  ];
}
