import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { digestOf } from "./atomic.ts";

/** Folders that hold no source: caches, environments, version control. */
const LEFT_OUT = new Set([
  ".git",
  ".hg",
  ".svn",
  ".venv",
  "venv",
  "node_modules",
  "__pycache__",
  ".cache",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  ".tox",
  ".nox",
  ".idea",
  ".vscode",
]);
/** Files that are written by tools beside the source while an agent starts or runs. */
const WRITTEN_BY_TOOLS = /^(uv\.lock|spans\.jsonl|\.DS_Store|nohup\.out|.*\.log)$/;
const MOST_FILES = 20_000;
const MOST_BYTES = 500_000_000;

/** Digests of an agent's source: of the whole and of each file by its path, or why there is none. */
export type SourceDigest =
  | { digest: string; files: Record<string, string> }
  | { digest: null; reason: string };

/**
 * SHA-256 over path, size and bytes of every source file below a folder. Left out: caches, environments, `.env*`,
 * logs, lock and span files that appear while an agent runs, and `eval/` (tasks and configuration have digests of their own).
 * A folder that is no project (more than 20,000 files or 500 MB) has no digest.
 *
 * @param leaveOut absolute paths below it that are no source either, such as a folder for results
 */
export async function sourceDigest(root: string, leaveOut: readonly string[] = []): Promise<SourceDigest> {
  const files: Record<string, string> = {};
  let count = 0;
  let bytes = 0;
  for await (const relative of sourceFiles(root, "", new Set(leaveOut))) {
    const file = join(root, relative);
    const found = await stat(file).catch(() => null);
    if (found !== null && !found.isFile()) continue;
    count += 1;
    bytes += found?.size ?? 0;
    if (count > MOST_FILES || bytes > MOST_BYTES) {
      return { digest: null, reason: `"${root}" holds more than ${MOST_FILES} files or ${MOST_BYTES} bytes` };
    }
    // A link that leads nowhere is part of the source as the link it is.
    files[relative] = await (found === null ? linkDigest(file) : fileDigest(file));
  }
  const lines = Object.entries(files).map(([path, digest]) => `${path}\0${digest}\n`);
  return { digest: digestOf(lines.join("")), files };
}

/** What cannot be read (a database's files, a file that went away in this moment) is no reason to evaluate nothing. */
const UNREADABLE = "unreadable";

async function linkDigest(file: string): Promise<string> {
  const to = await readlink(file).catch(() => null);
  return to === null ? UNREADABLE : `link ${to}`;
}

async function fileDigest(file: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(file), hash);
  } catch {
    return UNREADABLE;
  }
  return hash.digest("hex");
}

async function* sourceFiles(
  root: string,
  below: string,
  leaveOut: ReadonlySet<string>,
): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  if (entries.some((entry) => entry.name === "pyvenv.cfg")) return;
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const relative = below === "" ? entry.name : `${below}/${entry.name}`;
    if (
      leaveOut.has(join(root, relative)) ||
      entry.name.startsWith(".env") ||
      WRITTEN_BY_TOOLS.test(entry.name)
    ) {
      continue;
    }
    if (!entry.isDirectory()) yield relative;
    else if (entry.name !== "eval" && !LEFT_OUT.has(entry.name) && !entry.name.endsWith(".egg-info")) {
      yield* sourceFiles(root, relative, leaveOut);
    }
  }
}

/** What differs between two states of a source, for a message: `changed src/graph.py, new data.db`. */
export function sourceDifferences(before: Record<string, string>, now: Record<string, string>): string[] {
  const differences: string[] = [];
  for (const [path, digest] of Object.entries(before)) {
    if (!(path in now)) differences.push(`gone ${path}`);
    else if (now[path] !== digest) differences.push(`changed ${path}`);
  }
  for (const path of Object.keys(now)) if (!(path in before)) differences.push(`new ${path}`);
  return differences;
}
