import { definePlotter } from "../../lib/plugin/define.ts";

/** Every attempt: its time over its tokens. */
export default definePlotter({
  apiVersion: 1,
  title: "Time over tokens",
  plot(models) {
    const values = models.flatMap(({ name, episodes }) =>
      episodes.map(({ time, tokens, success }) => ({
        model: name,
        seconds: time.wall_ms / 1000,
        tokens: tokens.total_tokens,
        verdict: success ? "passed" : "failed",
      })),
    );
    return [
      {
        stem: "metrics_time_vs_total_tokens",
        spec: {
          title: "Time and tokens of every attempt",
          data: { values },
          width: 520,
          height: 380,
          mark: { type: "point", filled: true, size: 55, opacity: 0.7 },
          encoding: {
            x: { field: "tokens", type: "quantitative", title: "tokens" },
            y: { field: "seconds", type: "quantitative", title: "seconds" },
            color: {
              field: "model",
              type: "nominal",
              sort: null,
              title: null,
              legend: { labelLimit: 260, symbolLimit: 60, columns: models.length > 25 ? 2 : 1 },
            },
            shape: {
              field: "verdict",
              type: "nominal",
              title: null,
              scale: { domain: ["passed", "failed"], range: ["circle", "cross"] },
            },
          },
        },
      },
    ];
  },
});
