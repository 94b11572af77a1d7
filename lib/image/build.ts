import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import { findBlueprintRoot } from "../project/resolve.ts";
import { makeArguments, plainVersion, plannedImage } from "./planned.ts";
import { runForUser } from "./process.ts";
import { type ImageFlags, namesRegistry } from "./reference.ts";

/**
 * Builds the image of the blueprint that the folder is in, or else of the folder: through its Makefile, or with docker
 * itself where there is none.
 *
 * @throws BatError (code `usage` or `config`) before anything runs; with the program's exit code when it fails
 */
export async function buildImage(flags: ImageFlags, world: World): Promise<void> {
  const root = await projectRoot(world.cwd);
  const { image, makefile } = await plannedImage({ root, env: world.env, signal: world.signal }, flags);
  if (makefile !== null) await runForUser(["make", "build", ...makeArguments(flags)], root, world);
  else {
    if (!(await isFile(join(root, "Dockerfile"))))
      throw new BatError(
        "config",
        `There is no Makefile and no Dockerfile in "${root}"; go to a project's folder`,
      );
    const version = `VERSION=${plainVersion(flags)}`;
    await runForUser(["docker", "build", "--build-arg", version, "--tag", image!, "."], root, world);
  }
  world.stdout.write(image === null ? "Built\n" : `Built ${image}\n`);
}

/**
 * Pushes that image. Refused before anything runs when its name has no registry: it would go to Docker Hub.
 *
 * @throws BatError (code `usage`) for an image without a registry; else as `buildImage`
 */
export async function pushImage(flags: ImageFlags, world: World): Promise<void> {
  const root = await projectRoot(world.cwd);
  const plan = await plannedImage({ root, env: world.env, signal: world.signal }, flags, "push");
  const { image, makefile, error } = plan;
  if (image !== null && !namesRegistry(image))
    throw noRegistry(`"${image}" names no registry and would go to Docker Hub`, makefile);
  if (error.includes("DOCKER_REGISTRY")) throw noRegistry(`make said: ${error}`, makefile);
  if (makefile !== null) await runForUser(["make", "push", ...makeArguments(flags)], root, world);
  else await runForUser(["docker", "push", image!], root, world);
  world.stdout.write(image === null ? "Pushed\n" : `Pushed ${image}\n`);
}

function noRegistry(why: string, makefile: string | null): BatError {
  const ways = [
    "give --docker-registry (a host with a dot or a port, or localhost)",
    "set DOCKER_REGISTRY in the environment",
    ...(makefile === null ? [] : ["set it once with `bat set image --docker-registry`"]),
  ];
  return new BatError("usage", `Nothing was pushed: ${why}. To name a registry, ${ways.join(", or ")}`);
}

async function projectRoot(cwd: string): Promise<string> {
  const here = await realpath(cwd);
  return (await findBlueprintRoot(here)) ?? here;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}
