import { BatError } from "../errors.ts";

/** What names an image, each part alone. Empty ones count as not given. */
export interface ImageFlags {
  registry?: string | undefined;
  repo?: string | undefined;
  version?: string | undefined;
}

const HOST_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const HOST = String.raw`(?:${HOST_PART}(?:\.${HOST_PART})*|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?`;
const SEGMENT = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
const REGISTRY = new RegExp(`^${HOST}(?:/${SEGMENT})*$`);
const REPO = new RegExp(`^(?:${HOST}/)?${SEGMENT}(?:/${SEGMENT})*$`);
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Whether a text can be the path of an image, without its registry. */
export function isRepository(text: string): boolean {
  return REPO.test(text) && text.length <= 255;
}

/**
 * Checks what names an image before make or a shell sees it. Throws BatError (code `usage`) with flag, what was found
 * and what is allowed.
 */
export function checkImageFlags({ registry, repo, version }: ImageFlags): void {
  if (isGiven(registry)) checkRegistry(registry, "--docker-registry");
  if (isGiven(repo)) checkRepo(repo, "--repo");
  if (isGiven(version) && !TAG.test(version)) {
    throw new BatError(
      "usage",
      `--version must be an image tag: letters, digits, ".", "_" and "-", at most 128, not "." or "-" first; got "${version}"`,
    );
  }
}

/** @param from what gave it: a flag or a variable of the shell, for the message */
export function checkRegistry(registry: string, from: string): void {
  if (REGISTRY.test(registry) && registry.length <= 255) return;
  throw new BatError(
    "usage",
    `${from} must be a registry such as "registry.example.com", "localhost:5000" or "registry.example.com/team", got "${registry}"`,
  );
}

/** @param from what gave it: a flag or a variable of the shell, for the message */
export function checkRepo(repo: string, from: string): void {
  if (isRepository(repo)) return;
  throw new BatError(
    "usage",
    `${from} must be an image's name such as "team/agent": lower-case letters and digits, parted by single ".", "_", "-" or "/"; got "${repo}"`,
  );
}

/** Whether a flag or variable says something. */
export function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

/** Docker's rule: the first part is a registry with a `.` or `:` in it, or as `localhost`. */
export function namesRegistry(image: string): boolean {
  const slash = image.indexOf("/");
  if (slash === -1) return false;
  const first = image.slice(0, slash);
  return first === "localhost" || /[.:]/.test(first);
}
