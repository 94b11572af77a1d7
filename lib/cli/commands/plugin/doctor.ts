import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Load every plugin, run its fixtures, and tell all that is wrong",
  group: "Plugins",
  flags: {},
  examples: [{ command: "bat plugin doctor", does: "After a plugin was written or a pack installed" }],
  async run(_, world) {
    const [{ inventory, sourcesAt }, { problemsError }] = await Promise.all([
      import("../../../plugin/inventory.ts"),
      import("../../../errors.ts"),
    ]);
    const { plugins, problems, fixtures } = await inventory(await sourcesAt(world.cwd));
    if (problems.length > 0)
      throw problemsError("plugin", "Plugins do not load, or do not say what their fixtures say:", problems);
    const kinds = new Set(plugins.map(({ kind }) => kind)).size;
    world.stdout.write(
      `${plugins.length} plugins of ${kinds} kinds load${fixtures === 0 ? "" : `, ${fixtures} fixtures hold`}\n`,
    );
  },
});
