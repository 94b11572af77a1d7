import { defineCommand } from "../../command.ts";
import { IMAGE_FLAGS } from "../_image-flags.ts";
import { MANIFEST_FLAGS } from "./_flags.ts";

export default defineCommand({
  summary: "Write or update composition-model.yaml: how the cluster runs agents",
  description:
    "Adds a deployment mode for every agent of the blueprint that none runs, with the image that `make build` would make, and moves modes of the blueprint's image to the new one. All else in the file stays as it is written.",
  group: "Projects",
  flags: {
    ...MANIFEST_FLAGS,
    vendor: { type: "string", value: "NAME", required: true, summary: "Vendor of every mode" },
    ...IMAGE_FLAGS,
  },
  examples: [
    { command: "bat manifests composition-model --vendor acme --version 1.2.0", does: "For a release" },
  ],
  async run({ flags }, world) {
    const { writeCompositionModel } = await import("../../../manifests/run.ts");
    await writeCompositionModel(
      {
        output: flags.output,
        name: flags.name,
        namespace: flags.namespace,
        dryRun: flags["dry-run"] === true,
        vendor: flags.vendor,
        image: { registry: flags["docker-registry"], repo: flags.repo, version: flags.version },
      },
      world,
    );
  },
});
