import { BatError } from "../errors.ts";
import { isRepository } from "../image/reference.ts";
import { isNeededPackage, whyReserved } from "./reserved.ts";

/** Words of a text: split where a capital begins one, and at all that is no ASCII letter or digit. */
export function wordsOf(text: string): string[] {
  const parted = text.replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2").replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  return parted.match(/[A-Za-z0-9]+/g) ?? [];
}

/** Words in PascalCase, the rest of each as typed, without a last word "agent"; empty where nothing is left. */
function pascalCase(text: string): string {
  const words = wordsOf(text);
  if (words.at(-1)?.toLowerCase() === "agent") words.pop();
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}

/** First part of an agent's class names: `NetPlanAgent` → `NetPlan`. Always valid Python. */
export function classStem(name: string): string {
  const stem = pascalCase(name) || "Agent";
  return /^[0-9]/.test(stem) ? `Agent${stem}` : stem;
}

/** Name of a standalone agent's project and binary, from its folder. */
export function projectName(folder: string): string {
  const words = wordsOf(folder);
  if (words.length > 1 && words.at(-1)?.toLowerCase() === "agent") words.pop();
  return ownName(words.join("-").toLowerCase() || "agent", "agent");
}

/** A project must not be called like a package that it needs: `ollama` becomes `ollama-agent`. */
function ownName(project: string, what: string): string {
  return isNeededPackage(project) ? `${project}-${what}` : project;
}

/** Name of a blueprint's project and binary: its folder's, where that can be one. */
export function blueprintProject(folder: string): string {
  const name = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(folder) ? folder : joined(folder, "blueprint");
  return ownName(name, "blueprint");
}

/** Name of a blueprint for compose: its folder's, where that can be one. */
export function composeName(folder: string): string {
  return /^[a-z0-9][a-z0-9_-]*$/.test(folder) ? folder : joined(folder, "blueprint");
}

/** Repository of an image for a folder: its own name, where that can be one. */
export function repositoryName(folder: string, otherwise: string): string {
  const name = folder.toLowerCase();
  return isRepository(name) ? name : joined(name, otherwise);
}

function joined(folder: string, otherwise: string): string {
  return wordsOf(folder).join("-").toLowerCase() || otherwise;
}

/** Longest name of a folder here: file systems allow 255 bytes, and files beside it have longer names than it has. */
const LONGEST = 200;

/**
 * The folder of a new project: the name, blanks around it apart, lower-cased.
 *
 * @throws BatError (code `usage`) for what is no name, or could not be written into a Makefile, a Dockerfile or TOML
 */
export function folderName(name: string): string {
  const folder = name.trim().toLowerCase();
  if (folder === "") throw new BatError("usage", "NAME must not be empty");
  if (/[/\\\0]/.test(folder) || folder === "." || folder === "..") {
    throw new BatError(
      "usage",
      `NAME must be a name, not a path, got "${name}"; use --output-dir for the place`,
    );
  }
  if (folder.startsWith(".")) {
    throw new BatError("usage", `NAME must not begin with ".", got "${name}": the folder would be hidden`);
  }
  const odd = /[^\p{L}\p{M}\p{N} ._'+@-]/u.exec(folder);
  if (odd !== null) {
    throw new BatError(
      "usage",
      `NAME must consist of letters, digits, blanks and any of . _ - ' + @, got ${JSON.stringify(name)} with ${JSON.stringify(odd[0])}`,
    );
  }
  checkLength(folder);
  return folder;
}

function checkLength(folder: string): void {
  const bytes = Buffer.byteLength(folder);
  if (bytes > LONGEST)
    throw new BatError("usage", `NAME is too long: ${bytes} bytes, of which ${LONGEST} are allowed`);
}

/**
 * The folder of a blueprint's agent, which is a Python package.
 *
 * @param targets names that the blueprint's Makefile has other recipes for
 * @throws BatError (code `usage`) that names another where there is one
 */
export function agentFolder(name: string, targets: ReadonlySet<string>): string {
  const folder = name.trim().toLowerCase();
  if (folder === "") throw new BatError("usage", "NAME must not be empty");
  if (/[/\\]/.test(folder) || folder === "." || folder === "..")
    throw new BatError("usage", `NAME must be a name, not a path, got "${name}"`);
  if (!/^[a-z0-9_]+$/.test(folder)) {
    const better = joined(folder, "").replaceAll("-", "_");
    throw new BatError(
      "usage",
      `NAME must consist of letters a to z, digits and "_", as the agent is a Python package, got ${JSON.stringify(name)}${suggestion(better)}`,
    );
  }
  if (/^[0-9]/.test(folder))
    throw new BatError(
      "usage",
      `NAME must not begin with a digit, got "${name}"${suggestion(`agent_${folder}`)}`,
    );
  const why = targets.has(folder) ? "is a target of the Makefile" : whyReserved(folder);
  if (why !== null)
    throw new BatError("usage", `NAME must be another: "${folder}" ${why}${suggestion(`${folder}_agent`)}`);
  checkLength(folder);
  return folder;
}

function suggestion(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && whyReserved(name) === null ? `; take "${name}"` : "";
}

/** An LLM client: its file without ending, and its class. */
export interface ClientName {
  stem: string;
  className: string;
}

/**
 * Files and classes for a comma list of clients; two items with one file are one.
 *
 * @returns also the items that name no client because they only say "agent"
 * @throws BatError (code `usage`) where none is left, for an item that yields no valid Python, and for two files with one
 *   class
 */
export function clientNames(list: string, flag: string): { clients: ClientName[]; skipped: string[] } {
  const clients: ClientName[] = [];
  const skipped: string[] = [];
  for (const item of list.split(",").map((part) => part.trim())) {
    if (item === "") continue;
    const name = clientName(item, flag);
    if (name === null) skipped.push(item);
    else if (!clients.some(({ stem }) => stem === name.stem)) clients.push(name);
  }
  if (clients.length === 0) {
    const got =
      skipped.length > 0 ? `, got "${list}", of which nothing but "agent" is left` : `, got "${list}"`;
    throw new BatError("usage", `${flag} must name at least one client, such as "planner,weather"${got}`);
  }
  for (const [i, { className, stem }] of clients.entries()) {
    const other = clients.slice(0, i).find((earlier) => earlier.className === className);
    if (other === undefined) continue;
    throw new BatError(
      "usage",
      `${flag} must name each client once: ${other.stem}.py and ${stem}.py would both declare ${className}`,
    );
  }
  return { clients, skipped };
}

function clientName(item: string, flag: string): ClientName | null {
  const words = wordsOf(item);
  if (words.length === 0) {
    throw new BatError(
      "usage",
      `${flag} must consist of names in letters a to z and digits, such as "planner,weather", got "${item}"`,
    );
  }
  const stem = words.join("_").toLowerCase();
  const start = pascalCase(item);
  if (start === "") return null;
  if (/^[0-9]/.test(stem)) {
    throw new BatError(
      "usage",
      `${flag} must yield class names, which begin with a letter, got "${item}"; take "client_${stem}"`,
    );
  }
  return {
    stem: /(?:^|_)client$/.test(stem) && stem !== "client" ? stem : `${stem}_client`,
    className: start.endsWith("Client") ? start : `${start}Client`,
  };
}
