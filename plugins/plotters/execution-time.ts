import { definePlotter } from "../../lib/plugin/define.ts";
import { rangeChart, rangeOf } from "./_charts.ts";

/** Wall time of attempts, a row a model. */
export default definePlotter({
  apiVersion: 1,
  title: "Execution time",
  plot: (models) => [
    {
      stem: "metrics_execution_time",
      spec: rangeChart(
        "Execution time of an attempt: mean with its 95 % interval, smallest to largest",
        "seconds",
        models.map(({ name, episodes }) =>
          rangeOf(
            name,
            episodes.map(({ time }) => time.wall_ms / 1000),
          ),
        ),
      ),
    },
  ],
});
