import { defineCommand } from "../../command.ts";
import { MANIFEST_FLAGS } from "./_flags.ts";

export default defineCommand({
  summary: "Write or update aifabric.yaml: agents, their models and MCP servers",
  description:
    "For every agent of the blueprint with a model: its entry, its language model, its MCP servers and the agents that it calls, from the agents' config.yaml and the composition model. All else in the file stays as it is written.",
  group: "Projects",
  flags: {
    ...MANIFEST_FLAGS,
    "image-pull-secret": { type: "list", value: "NAME", summary: "Secret for pulling images" },
    "telemetry-endpoint": { type: "string", value: "URL", summary: "Collector that the cluster reaches" },
  },
  examples: [
    {
      command: "bat manifests aifabric --telemetry-endpoint http://collector:4318",
      does: "With a collector",
    },
  ],
  async run({ flags }, world) {
    const { writeFabric } = await import("../../../manifests/run.ts");
    await writeFabric(
      {
        output: flags.output,
        name: flags.name,
        namespace: flags.namespace,
        dryRun: flags["dry-run"] === true,
        imagePullSecrets: flags["image-pull-secret"],
        telemetryEndpoint: flags["telemetry-endpoint"],
      },
      world,
    );
  },
});
