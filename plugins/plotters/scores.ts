import { definePlotter } from "../../lib/plugin/define.ts";
import { rangeChart, rangeOf, scoreFields, scoresOf } from "./_charts.ts";

/** The judge's scores: one chart each, and one with all of them. */
export default definePlotter({
  apiVersion: 1,
  title: "Judge's scores",
  plot(models) {
    const fields = scoreFields(models);
    if (fields.length === 0) return [];
    const rows = (field: string) => models.map((model) => rangeOf(model.name, scoresOf(model, field)));
    const each = fields.map((field) => ({
      stem: `metrics_${field}`,
      spec: rangeChart(
        `${field}: mean with its 95 % interval, smallest to largest`,
        "score",
        rows(field),
        [0, 1],
      ),
    }));
    const all = {
      title: "Judge's scores: mean with its 95 % interval, smallest to largest",
      vconcat: fields.map((field) => rangeChart(field, "score", rows(field), [0, 1])),
    };
    return [{ stem: "metrics_qualitative_metrics", spec: all }, ...each];
  },
});
