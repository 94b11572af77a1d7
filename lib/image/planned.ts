import { basename } from "node:path";
import { BatError } from "../errors.ts";
import { imageIn } from "./commands-in.ts";
import { findMakefile } from "./makefile.ts";
import { runQuietly } from "./process.ts";
import {
  checkImageFlags,
  checkRegistry,
  checkRepo,
  type ImageFlags,
  isGiven,
  isRepository,
} from "./reference.ts";

/** What decides an image besides the flags. */
export interface ImagePlace {
  /** The project: a blueprint's root or an agent's own folder. */
  root: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** What a build or push would do. */
export interface PlannedImage {
  /** The image; null where the Makefile does not show one. */
  image: string | null;
  /** Path of the Makefile, null where docker is run itself. */
  makefile: string | null;
  /** What `make` said when it could not even plan; else empty. */
  error: string;
}

/**
 * The image that `bat build` (or `push`) would make here: with a Makefile what a dry run of make shows, else from flags,
 * environment and the folder's name. Nothing is run that builds.
 *
 * @throws BatError (code `usage`) for flags and variables that name no image, before make sees them; (code `command`)
 *   when there is no make
 */
export async function plannedImage(
  place: ImagePlace,
  flags: ImageFlags,
  target: "build" | "push" = "build",
): Promise<PlannedImage> {
  checkImageFlags(flags);
  const makefile = await findMakefile(place.root);
  if (makefile === null) return { image: plainImage(place, flags), makefile, error: "" };
  checkEnvironment(place.env, flags);
  const { code, stdout, stderr } = await runQuietly(["make", "-n", target, ...makeArguments(flags)], {
    cwd: place.root,
    env: place.env,
    signal: place.signal,
  });
  if (code !== 0) return { image: null, makefile, error: stderr.trim() };
  const pushed = target === "push" ? imageIn(stdout, "push") : null;
  return { image: pushed ?? imageIn(stdout, "build"), makefile, error: "" };
}

/** The given flags as variables for make; nothing else is passed. */
export function makeArguments({ registry, repo, version }: ImageFlags): string[] {
  const variables: [string, string | undefined][] = [
    ["DOCKER_REGISTRY", registry],
    ["REPO", repo],
    ["VERSION", version],
  ];
  return variables.flatMap(([name, value]) => (isGiven(value) ? [`${name}=${value}`] : []));
}

/** Version of an image that is built without a Makefile. */
export function plainVersion({ version }: ImageFlags): string {
  return isGiven(version) ? version : "latest";
}

function plainImage({ root, env }: ImagePlace, flags: ImageFlags): string {
  const given = (flag: string | undefined, name: string, check: (value: string, from: string) => void) => {
    if (isGiven(flag)) return flag;
    const value = env[name]?.trim() ?? "";
    if (value !== "") check(value, `${name} in the environment`);
    return value;
  };
  const registry = given(flags.registry, "DOCKER_REGISTRY", checkRegistry);
  const repo = given(flags.repo, "REPO", checkRepo) || folderRepository(root);
  return `${registry === "" ? "" : `${registry}/`}${repo}:${plainVersion(flags)}`;
}

function folderRepository(root: string): string {
  const name = basename(root).toLowerCase();
  if (isRepository(name)) return name;
  throw new BatError(
    "usage",
    `The folder's name "${basename(root)}" cannot name an image; give one with --repo`,
  );
}

/** Make expands these and a shell then reads them, whatever the Makefile does with them. */
function checkEnvironment(env: ImagePlace["env"], flags: ImageFlags): void {
  const given: Record<string, string | undefined> = {
    DOCKER_REGISTRY: flags.registry,
    REPO: flags.repo,
    VERSION: flags.version,
  };
  for (const [name, flag] of Object.entries(given)) {
    const value = env[name]?.trim() ?? "";
    if (!isGiven(flag) && /[\s$`"'\\;|&<>(){}[\]*?!#~]/.test(value)) {
      throw new BatError(
        "usage",
        `${name} in the environment must be part of an image's name, without characters that make or a shell acts on; got "${value}"`,
      );
    }
  }
}
