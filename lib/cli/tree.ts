import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "./command.ts";

const ROOT = fileURLToPath(new URL("./commands/", import.meta.url));
const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** What stands at a place of the command tree. */
export interface TreeNode {
  path: readonly string[];
  /** The module of the command, where there is one. */
  file: string | null;
  /** Names below it. */
  children: readonly string[];
}

/** The files are the tree: `commands/eval/run.ts` is `bat eval run`. */
export function nodeAt(path: readonly string[]): TreeNode | null {
  const folder = join(ROOT, ...path);
  const parent = path.length === 0 ? [] : names(join(ROOT, ...path.slice(0, -1)));
  const last = path[path.length - 1];
  const isCommand = last !== undefined && parent.includes(`${last}${EXTENSION}`);
  const below = names(folder);
  if (!isCommand && below.length === 0) return null;
  const children = [...new Set(below.map((name) => name.replace(/\.[jt]s$/, "")))].sort();
  return { path, file: isCommand ? `${folder}${EXTENSION}` : null, children };
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !/^_|_test\.|\.d\.ts$|\.map$/.test(name));
  } catch {
    return [];
  }
}

/** The command of a node that has one. */
export async function loadCommand(node: TreeNode): Promise<Command> {
  const { pathToFileURL } = await import("node:url");
  const module = (await import(pathToFileURL(node.file!).href)) as { default: Command };
  return module.default;
}

/** All commands at and below a place, by path. */
export async function commandsBelow(
  path: readonly string[],
): Promise<{ path: readonly string[]; command: Command }[]> {
  const node = nodeAt(path);
  if (node === null) return [];
  const own = node.file === null ? [] : [{ path, command: await loadCommand(node) }];
  const below = await Promise.all(node.children.map((name) => commandsBelow([...path, name])));
  return [...own, ...below.flat()];
}

/** The longest part of the words that leads to a node, and what is left of them. */
export function route(words: readonly string[]): { node: TreeNode; rest: string[] } {
  let node = nodeAt([])!;
  let used = 0;
  for (const word of words) {
    if (word.startsWith("-") || !node.children.includes(word)) break;
    const next = nodeAt([...node.path, word]);
    if (next === null) break;
    node = next;
    used += 1;
  }
  return { node, rest: words.slice(used) };
}
