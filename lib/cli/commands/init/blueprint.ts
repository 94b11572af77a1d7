import { defineCommand } from "../../command.ts";
import { INTERACTIVE, nameOf, tellScaffolded } from "./_agent-flags.ts";

export default defineCommand({
  summary: "Make a project that several agents share",
  group: "Projects",
  args: [
    { name: "NAME", summary: "Name of the blueprint; its folder is called so in lower case", optional: true },
  ],
  flags: {
    "output-dir": {
      type: "string",
      short: "o",
      value: "DIR",
      default: ".",
      summary: "Where to make the folder",
    },
    force: { type: "boolean", short: "f", summary: "Write into a folder that is not empty" },
    "model-provider": { type: "string", value: "ID", summary: "Who serves the models, by default openai" },
    interactive: INTERACTIVE,
    "dry-run": { type: "boolean", summary: "Show what would be written and write nothing" },
  },
  examples: [{ command: "bat init blueprint lab", does: "Then `bat add agent desk` in it" }],
  async run({ args, flags }, world) {
    const { initBlueprint } = await import("../../../scaffold/init-blueprint.ts");
    const { relative } = await import("node:path");
    const name = await nameOf(args.NAME, "blueprint", flags.interactive, world);
    const dryRun = flags["dry-run"] === true;
    const result = await initBlueprint({ cwd: world.cwd, stdout: world.stdout, dryRun }, name, {
      outputDir: flags["output-dir"],
      force: flags.force === true,
      modelProvider: flags["model-provider"],
    });
    const where = relative(world.cwd, result.dir) || result.dir;
    tellScaffolded(result, where, ["add an agent there with `bat add agent NAME`"], dryRun, world);
  },
});
