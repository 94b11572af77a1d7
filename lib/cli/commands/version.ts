import { packageVersion } from "../../package.ts";
import { defineCommand } from "../command.ts";

export default defineCommand({
  summary: "Show the version",
  group: "About",
  run(_, world) {
    world.stdout.write(`bat ${packageVersion()}\n`);
    return Promise.resolve();
  },
});
