import { wilson } from "../../lib/eval/statistics.ts";
import { definePlotter } from "../../lib/plugin/define.ts";
import { safeName } from "../../lib/store/file-names.ts";
import { rangeChart, rangeOf } from "./_charts.ts";

/** For each task: how often it passed, with its interval, how long it took and what it cost. */
export default definePlotter({
  apiVersion: 1,
  title: "Tasks",
  plot(models) {
    const tasks = [...new Set(models.flatMap(({ episodes }) => episodes.map(({ task_id }) => task_id)))];
    return tasks.map((task) => {
      const own = models.map(({ name, episodes }) => ({
        name,
        episodes: episodes.filter(({ task_id }) => task_id === task),
      }));
      const passes = own.map(({ name, episodes }) => {
        const rate = wilson(episodes.filter(({ success }) => success).length, episodes.length);
        return {
          model: name,
          mean: rate?.value ?? null,
          low: null,
          high: null,
          meanLow: rate?.low ?? null,
          meanHigh: rate?.high ?? null,
          count: episodes.length,
        };
      });
      return {
        stem: `metrics_per_task_${safeName(task)}`,
        spec: {
          title: task,
          vconcat: [
            rangeChart("Pass rate with its 95 % interval", "pass rate", passes, [0, 1]),
            rangeChart(
              "Execution time: mean with its 95 % interval, smallest to largest",
              "seconds",
              own.map(({ name, episodes }) =>
                rangeOf(
                  name,
                  episodes.map(({ time }) => time.wall_ms / 1000),
                ),
              ),
            ),
            rangeChart(
              "Tokens: mean with its 95 % interval, smallest to largest",
              "tokens",
              own.map(({ name, episodes }) =>
                rangeOf(
                  name,
                  episodes.map(({ tokens }) => tokens.total_tokens),
                ),
              ),
            ),
          ],
        },
      };
    });
  },
});
