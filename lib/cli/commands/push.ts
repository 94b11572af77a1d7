import { defineCommand } from "../command.ts";
import { IMAGE_FLAGS } from "./_image-flags.ts";

export default defineCommand({
  summary: "Push the project's image",
  description: "Runs the Makefile's `make push`, or `docker push` where there is no Makefile.",
  group: "Projects",
  flags: IMAGE_FLAGS,
  examples: [
    {
      command: "bat push --docker-registry registry.example.com --version 1.0",
      does: "With a name given here",
    },
  ],
  async run({ flags }, world) {
    const { pushImage } = await import("../../image/build.ts");
    await pushImage({ registry: flags["docker-registry"], repo: flags.repo, version: flags.version }, world);
  },
});
