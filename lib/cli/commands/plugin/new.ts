import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Write a new check for this project: module, fixtures and test",
  group: "Plugins",
  args: [
    { name: "KIND", summary: "check" },
    { name: "NAME", summary: "Its id, the name of its file" },
  ],
  flags: {},
  examples: [{ command: "bat plugin new check max_output_chars", does: "A check in eval/plugins/checks/" }],
  async run({ args }, world) {
    const [{ newCheck }, { BatError }] = await Promise.all([
      import("../../../plugin/new-check.ts"),
      import("../../../errors.ts"),
    ]);
    if (args.KIND !== "check") throw new BatError("usage", `KIND must be check, got "${args.KIND}"`);
    const files = await newCheck(args.NAME, world.cwd);
    world.stdout.write(
      `${files.map((file) => `Wrote ${file}`).join("\n")}\nTry it with: bat plugin doctor\n`,
    );
  },
});
