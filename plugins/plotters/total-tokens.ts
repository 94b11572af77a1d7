import { definePlotter } from "../../lib/plugin/define.ts";
import { rangeChart, rangeOf } from "./_charts.ts";

/** Tokens of attempts, in and out, a row a model. */
export default definePlotter({
  apiVersion: 1,
  title: "Total tokens",
  plot: (models) => [
    {
      stem: "metrics_total_tokens",
      spec: rangeChart(
        "Tokens of an attempt: mean with its 95 % interval, smallest to largest",
        "tokens",
        models.map(({ name, episodes }) =>
          rangeOf(
            name,
            episodes.map(({ tokens }) => tokens.total_tokens),
          ),
        ),
      ),
    },
  ],
});
