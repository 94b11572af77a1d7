import { definePlotter } from "../../lib/plugin/define.ts";

/** Prompt and completion tokens of an average attempt, stacked. */
export default definePlotter({
  apiVersion: 1,
  title: "Token usage",
  plot(models) {
    const values = models.flatMap(({ name, episodes }) =>
      (["prompt", "completion"] as const).map((kind) => ({
        model: name,
        kind,
        tokens:
          episodes.reduce((sum, { tokens }) => sum + tokens[`${kind}_tokens`], 0) /
          Math.max(1, episodes.length),
      })),
    );
    return [
      {
        stem: "metrics_token_usage",
        spec: {
          title: "Tokens of an average attempt",
          data: { values },
          height: { step: 26 },
          width: 520,
          mark: { type: "bar", height: { band: 0.7 } },
          encoding: {
            y: { field: "model", type: "nominal", sort: null, title: null },
            x: { field: "tokens", type: "quantitative", title: "tokens" },
            color: { field: "kind", type: "nominal", title: null, sort: null },
            order: { field: "kind", sort: "descending" },
          },
        },
      },
    ];
  },
});
