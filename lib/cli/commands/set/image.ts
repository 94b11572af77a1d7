import { defineCommand } from "../../command.ts";

export default defineCommand({
  summary: "Set the registry and repository of the image in the project's Makefile",
  description: "Edits the lines of DOCKER_REGISTRY and REPO; all else stays. At least one must be given.",
  group: "Projects",
  flags: {
    "docker-registry": { type: "string", value: "HOST", summary: 'Registry to push to; "" for none' },
    repo: { type: "string", value: "NAME", summary: "Name of the image in it" },
    "dry-run": { type: "boolean", summary: "Show the difference and write nothing" },
  },
  examples: [
    {
      command: "bat set image --docker-registry registry.example.com --repo team/desk",
      does: "Name the image",
    },
  ],
  async run({ flags }, world) {
    const { setImage } = await import("../../../settings/image.ts");
    const dryRun = flags["dry-run"] === true;
    const settings = { registry: flags["docker-registry"], repo: flags.repo };
    const result = await setImage(world.cwd, settings, { dryRun, stdout: world.stdout });
    const { tell } = await import("./_tell.ts");
    tell(result, dryRun, world);
  },
});
