import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { World } from "../cli/command.ts";
import { columnsText } from "../cli/layout.ts";
import { BatError, problemsError } from "../errors.ts";
import { loadPlugins } from "../plugin/loader.ts";
import { pluginSources } from "../plugin/sources.ts";
import { didYouMean } from "../text/nearest.ts";
import { printable, printableLines } from "../text/printable.ts";
import { renderTrajectory } from "./render.ts";
import { type IndexOptions, SpanIndex } from "./span-index.ts";

/** Lists the conversations that the spans of some files name. */
export async function listConversations(
  paths: readonly string[],
  json: boolean,
  world: World,
): Promise<void> {
  const index = await readIndex(paths, world, { onlyNames: true });
  const found = index.conversations();
  index.close();
  if (json) {
    const list = found.map(({ id, turns, startTime }) => ({
      conversation: id,
      turns,
      start: isoTime(startTime),
    }));
    world.stdout.write(`${JSON.stringify(list, null, 2)}\n`);
    return;
  }
  if (found.length === 0) {
    const { spans, skippedLines } = index.stats;
    throw new BatError(
      "usage",
      `No conversation found in ${paths.join(", ")}: ${spans} spans read, ${skippedLines} lines that are none`,
    );
  }
  const rows = found.map(({ id, turns, startTime }) => [printable(id), String(turns), isoTime(startTime)]);
  const lines = columnsText(
    [["Conversation", "Turns", "Began"], ...rows],
    [false, true, false],
    world.columns,
  );
  world.stdout.write(`${lines.join("\n")}\n`);
}

/** Shows the trajectory of one conversation. */
export async function showConversation(
  asked: {
    paths: readonly string[];
    conversation: string;
    turns: readonly string[];
    maxChars: number | undefined;
    json: boolean;
  },
  world: World,
): Promise<void> {
  const { conversation, turns } = asked;
  // Two readings keep memory small however large the files are: first who is there, then that conversation alone.
  const names = await readIndex(asked.paths, world, { onlyNames: true });
  const wanted = new Set(names.traceIds({ conversation, turns }));
  const known = names.conversations().map(({ id }) => id);
  names.close();
  const index = await readIndex(asked.paths, world, { wants: (traceId) => wanted.has(traceId) });
  const { trajectory } = index.trajectory({ conversation, turns });
  const { skippedLines } = index.stats;
  index.close();
  if (skippedLines > 0) world.stderr.write(`${skippedLines} lines are no spans and were passed over\n`);
  if (asked.json) world.stdout.write(`${JSON.stringify(trajectory, null, 2)}\n`);
  else {
    const text = renderTrajectory(trajectory, asked.maxChars);
    world.stdout.write(`${world.isTerminal.stdout ? printableLines(text) : text}\n`);
  }
  if (!trajectory.found)
    throw new BatError(
      "run",
      `No spans found for conversation "${conversation}"${didYouMean(conversation, known)}`,
    );
}

async function readIndex(paths: readonly string[], world: World, options: IndexOptions): Promise<SpanIndex> {
  const absolute = paths.map((path) => resolve(world.cwd, path));
  const missing = [];
  for (const [i, path] of absolute.entries()) {
    if ((await stat(path).catch(() => null)) === null)
      missing.push({ file: paths[i]!, message: "There is no such file or folder" });
  }
  if (missing.length > 0) throw problemsError("usage", "Cannot read spans:", missing);
  const index = new SpanIndex(absolute, await loadPlugins("conventions", pluginSources()), options);
  await unlessAborted(index.readAll(), world.signal);
  return index;
}

/** Large files take long to read: Ctrl-C is heard meanwhile. */
async function unlessAborted(reading: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const stop = Promise.withResolvers<never>();
  const end = () => stop.reject(signal.reason);
  signal.addEventListener("abort", end);
  try {
    await Promise.race([reading, stop.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** A time that no calendar has, from a broken clock, is told by its number. */
function isoTime(nanoseconds: bigint): string {
  const date = new Date(Number(nanoseconds / 1_000_000n));
  return Number.isNaN(date.getTime()) ? String(nanoseconds) : date.toISOString();
}
