import { relative, resolve } from "node:path";
import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Draw charts of a run's metrics",
  group: "Evaluation",
  description:
    "Draws PNG and SVG from every folder with a metrics.json below the run's folder, beside those folders.",
  flags: {
    folder: {
      type: "string",
      short: "f",
      value: "DIR",
      summary: "The run's folder; by default the newest run",
    },
    filter: {
      type: "string",
      short: "F",
      value: "TEXT",
      summary: "Only model folders whose name holds this",
    },
  },
  examples: [{ command: "bat eval plot", does: "Charts of the newest run" }],
  async run({ flags }, world) {
    const [{ plotFolder }, { findRun }, { pluginSources }] = await Promise.all([
      import("../../../report/plot.ts"),
      import("../../../eval/find-run.ts"),
      import("../../../plugin/sources.ts"),
    ]);
    const folder =
      flags.folder === undefined
        ? await findRun(undefined, undefined, world.cwd)
        : resolve(world.cwd, flags.folder);
    const written = await plotFolder(
      folder,
      flags.filter,
      pluginSources({ projectDir: world.cwd }),
      world.signal,
    );
    const place = relative(world.cwd, folder) || ".";
    world.stdout.write(`${written.map((name) => `${place}/${name}`).join("\n")}\n`);
  },
});
