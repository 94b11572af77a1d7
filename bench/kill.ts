/**
 * `kill -9` of `bat` at random instants of a run, then `resume`: every result must equal an undisturbed run's, none may
 * be lost or there twice, and no process left. 200 instants, or as many as the first argument says.
 */
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { Evaluation, exitOf, untilGone } from "../test/_evaluation.ts";
import { show } from "./_bench.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const instants = Number(process.argv[2] ?? 200);
const tasks = Array.from({ length: 8 }, (_, i) => ({
  id: `t${i}`,
  turns: ["sleep 15 I need bolts", "7"],
  expected: { tool_calls: [{ name: "reserve", args_subset: { count: 7 } }] },
}));
const settings = { k: 2, concurrency: 3, agent_shutdown_timeout_s: 2 };
using whole = new Evaluation(tasks, settings);
whole.json("eval", "run");
const expected = whole.normalised();
const count = { equal: 0, different: 0, tooEarly: 0, left: 0 };
for (let i = 0; i < instants; i += 1) {
  using evaluation = new Evaluation(tasks, settings);
  const child = evaluation.start("eval", "run");
  // Most instants lie within the run, some before it is there.
  if (i % 10 > 0) while (evaluation.runs.length === 0) await pause(2);
  await pause(Math.random() * (i % 10 > 0 ? 900 : 300));
  child.kill("SIGKILL");
  await exitOf(child);
  if (evaluation.runs.length === 0 || !existsSync(evaluation.file("run.json"))) count.tooEarly += 1;
  else {
    const { status, result } = evaluation.json("eval", "resume");
    const good =
      status === 0 && result.problems.length === 0 && isDeepStrictEqual(evaluation.normalised(), expected);
    if (good) count.equal += 1;
    else count.different += 1;
  }
  count.left += (await untilGone(evaluation)).length;
}
show([
  {
    what: `kill -9 at ${instants} instants, then resume: results equal / not`,
    measured: `${count.equal} / ${count.different} (${count.tooEarly} before the run was there)`,
    target: "none different",
    good: count.different === 0,
  },
  { what: "processes left", measured: String(count.left), target: "none", good: count.left === 0 },
]);
