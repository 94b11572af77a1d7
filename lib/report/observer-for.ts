import type { World } from "../cli/command.ts";
import type { RunObserver } from "../eval/observer.ts";
import { LiveProgress } from "./live-progress.ts";
import { LineProgress, QuietProgress } from "./progress.ts";

/**
 * What shows a run's progress in this world: a live block on a terminal, a line an attempt elsewhere, only warnings
 * where machines read the output. It ends with `runFinished`, or with its disposal where a run breaks off.
 */
export function observerFor(world: World, { json }: { json: boolean }): RunObserver & Disposable {
  if (json) return new QuietProgress(world);
  const redraws = world.isTerminal.stderr && world.env.TERM !== "dumb";
  return redraws ? new LiveProgress(world) : new LineProgress(world);
}
