import { relative } from "node:path";
import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "List every plugin with where it comes from",
  group: "Plugins",
  flags: {
    kind: { type: "string", value: "KIND", summary: "Only this kind: checks, rubrics, providers, …" },
    json: { type: "boolean", summary: "Print it as JSON" },
  },
  examples: [{ command: "bat plugin list --kind checks", does: "What a task can expect" }],
  async run({ flags }, world) {
    const [{ inventory, sourcesAt }, { problemsError, BatError }, { columnsText }, { didYouMean }] =
      await Promise.all([
        import("../../../plugin/inventory.ts"),
        import("../../../errors.ts"),
        import("../../layout.ts"),
        import("../../../text/nearest.ts"),
      ]);
    const { plugins, problems } = await inventory(await sourcesAt(world.cwd));
    if (problems.length > 0) throw problemsError("plugin", "Plugins do not load:", problems);
    const kinds = [...new Set(plugins.map(({ kind }) => kind))];
    if (flags.kind !== undefined && !kinds.includes(flags.kind))
      throw new BatError(
        "usage",
        `--kind: Unknown kind "${flags.kind}"${didYouMean(flags.kind, kinds) || `; there are ${kinds.join(", ")}`}`,
      );
    const shown = plugins.filter(({ kind }) => flags.kind === undefined || kind === flags.kind);
    if (flags.json === true) {
      world.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return;
    }
    const rows = shown.map(({ kind, id, title, source, file }) => [
      kind,
      id,
      source === "built-in" ? source : `${source}: ${relative(world.cwd, file)}`,
      title,
    ]);
    const table = columnsText(
      [["Kind", "Id", "Source", "Title"], ...rows],
      [false, false, false, false],
      200,
    );
    world.stdout.write(`${table.join("\n")}\n`);
  },
});
