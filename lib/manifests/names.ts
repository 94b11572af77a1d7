import { BatError, type Problem, problemsError } from "../errors.ts";
import { wordsOf } from "../scaffold/names.ts";
import { digestOf } from "../store/atomic.ts";

/** Longest DNS label (RFC 1123), which names of Kubernetes objects here must be. */
const LONGEST = 63;
const HASH = 8;

/** A text as a name for Kubernetes: its words in small letters with dashes between; empty where it has none. */
export function kubernetesName(text: string): string {
  return cut(wordsOf(text).join("-").toLowerCase(), LONGEST);
}

function cut(name: string, length: number): string {
  return name.slice(0, length).replace(/-+$/, "");
}

/** A name that none of others has: with `-2`, `-3` … behind it where it is taken, cut so that they fit. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let n = 1; ; n += 1) {
    const ending = n === 1 ? "" : `-${n}`;
    const candidate = `${cut(name, LONGEST - ending.length)}${ending}`;
    if (!isTaken(candidate)) return candidate;
  }
}

/**
 * Names for agents by their folders. One that must be cut ends with a digest of the whole, so that it stays apart from
 * others that begin alike.
 *
 * @throws BatError (code `config`) with every folder that gives no name, and all that give the same
 */
export function agentNames(folders: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const problems: Problem[] = [];
  for (const folder of folders) {
    const whole = wordsOf(folder).join("-").toLowerCase();
    const name =
      whole.length <= LONGEST ? whole : `${cut(whole, LONGEST - HASH - 1)}-${digestOf(whole).slice(0, HASH)}`;
    const twin = [...names].find(([, other]) => other === name)?.[0];
    if (name === "")
      problems.push({
        message: `The folder "${folder}" has no letters or digits for a Kubernetes name; rename it`,
      });
    else if (twin !== undefined)
      problems.push({
        message: `The folders "${twin}" and "${folder}" have the same Kubernetes name, "${name}"; rename one`,
      });
    else names.set(folder, name);
  }
  if (problems.length > 0) throw problemsError("config", "Agents cannot be named in a manifest:", problems);
  return names;
}

/** Checks a name that was given. Throws BatError (code `usage`) for what Kubernetes refuses. */
export function checkLabel(value: string, flag: string): void {
  if (value.length <= LONGEST && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value)) return;
  throw new BatError(
    "usage",
    `${flag} must be a Kubernetes name: at most ${LONGEST} lower-case letters, digits and dashes, no dash at either end; got "${value}"`,
  );
}

/** The blueprint's own name. Throws BatError (code `usage`) where its folder gives none. */
export function blueprintName(folder: string): string {
  const name = kubernetesName(folder);
  if (name !== "") return name;
  throw new BatError(
    "usage",
    `The blueprint's folder "${folder}" has no letters or digits for a Kubernetes name; give one with --name`,
  );
}
