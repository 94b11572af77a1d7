import { statSync } from "node:fs";
import { resolve } from "node:path";
import { styleText } from "node:util";
import { BatError } from "../errors.ts";
import { didYouMean } from "../text/nearest.ts";
import type { World } from "./command.ts";
import { EXIT, EXIT_OF_ERROR } from "./exit-codes.ts";
import { helpText } from "./help.ts";
import { parse } from "./parse.ts";
import { loadCommand, route, type TreeNode } from "./tree.ts";

/** Runs a command line in a world and gives its exit code. Throws nothing: every error is told on stderr. */
export async function runCli(argv: readonly string[], world: World): Promise<number> {
  try {
    return await dispatch(argv, world);
  } catch (error) {
    return report(error, world);
  }
}

async function dispatch(argv: readonly string[], world: World): Promise<number> {
  const { node, before, rest } = find(argv);
  if (node.file === null) return await atGroup(node, [...before, ...rest], world);
  const command = await loadCommand(node);
  const parsed = parse(command, [...before, ...rest]);
  if (parsed.help) {
    world.stdout.write(`${await helpText(node, command, world)}\n`);
    return EXIT.done;
  }
  const there = parsed.cwd === null ? world : { ...world, cwd: folderOf(parsed.cwd, world.cwd) };
  const given = { args: parsed.args, flags: parsed.flags };
  return (await command.run(given as Parameters<typeof command.run>[0], there)) ?? EXIT.done;
}

/** The node that the words lead to, whatever flags stand before and between them, and what is left. */
function find(argv: readonly string[]): { node: TreeNode; before: string[]; rest: string[] } {
  const { before, words } = leadingFlags(argv);
  let { node, rest } = route(words);
  while (node.file === null && rest[0]?.startsWith("-") === true && rest[0] !== "--") {
    const more = leadingFlags(rest);
    before.push(...more.before);
    ({ node, rest } = route([...node.path, ...more.words]));
  }
  return { node, before, rest };
}

/** `bat -C DIR eval run`: flags of every command may stand before it. */
function leadingFlags(argv: readonly string[]): { before: string[]; words: string[] } {
  let i = 0;
  while (i < argv.length && argv[i]!.startsWith("-") && argv[i] !== "--") {
    i += argv[i] === "-C" || argv[i] === "--cwd" ? 2 : 1;
  }
  return { before: argv.slice(0, i), words: argv.slice(i) };
}

async function atGroup(node: TreeNode, words: readonly string[], world: World): Promise<number> {
  const rest = withoutCwd(words, world.cwd);
  const unknown = rest.find((word) => !word.startsWith("-"));
  const flag = rest.find((word) => word.startsWith("-") && !["-h", "--help", "--no-color"].includes(word));
  const name = ["bat", ...node.path].join(" ");
  if (unknown !== undefined) {
    const hint =
      didYouMean(unknown, node.children) || `; commands of \`${name}\`: ${node.children.join(", ")}`;
    throw new BatError("usage", `Unknown command "${[...node.path, unknown].join(" ")}"${hint}`);
  }
  if (flag !== undefined) throw new BatError("usage", `Unknown flag "${flag}"; see \`${name} --help\``);
  const asked = rest.some((word) => word === "-h" || word === "--help");
  const fine = asked || node.path.length === 0;
  (fine ? world.stdout : world.stderr).write(`${await helpText(node, null, world)}\n`);
  return fine ? EXIT.done : EXIT.usage;
}

/** The help of a group is the same everywhere; a folder that is not there is told all the same. */
function withoutCwd(words: readonly string[], cwd: string): string[] {
  const at = words.findIndex((word) => /^(-C|--cwd)(=|$)/.test(word));
  const flag = words[at];
  if (flag === undefined) return [...words];
  const attached = flag.includes("=");
  const value = attached ? flag.slice(flag.indexOf("=") + 1) : words[at + 1];
  if (value === undefined) throw new BatError("usage", `${flag} needs a value`);
  folderOf(value, cwd);
  return [...words.slice(0, at), ...words.slice(at + (attached ? 1 : 2))];
}

function folderOf(given: string, cwd: string): string {
  const folder = resolve(cwd, given);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw new BatError("usage", `--cwd: There is no folder "${folder}"`);
  if (!found.isDirectory()) throw new BatError("usage", `--cwd: "${folder}" is no folder`);
  return folder;
}

/** What a file system or the system's limits say no with: the user's to mend, and no defect. */
const OF_THE_SYSTEM = new Set(
  "EACCES EPERM EEXIST EROFS ENOSPC EDQUOT EIO EMFILE ENFILE ENOTDIR EISDIR ELOOP ENAMETOOLONG EFBIG".split(
    " ",
  ),
);

function report(error: unknown, world: World): number {
  const label = (text: string) => (world.color ? styleText("red", text, { validateStream: false }) : text);
  if (error instanceof BatError) {
    world.stderr.write(`${label("Error:")} ${error.message}\n`);
    return error.code === "command" && error.exitCode !== undefined
      ? error.exitCode
      : EXIT_OF_ERROR[error.code];
  }
  const message = error instanceof Error ? error.message : String(error);
  if (
    OF_THE_SYSTEM.has((error as NodeJS.ErrnoException | null)?.code ?? "") &&
    world.env.BAT_DEBUG === undefined
  ) {
    world.stderr.write(`${label("Error:")} ${message}\n`);
    return EXIT.notDone;
  }
  world.stderr.write(`${label("Internal error:")} ${message}\n`);
  const debug = world.env.BAT_DEBUG !== undefined && error instanceof Error;
  world.stderr.write(
    debug ? `${error.stack}\n` : "This is a defect of bat. BAT_DEBUG=1 shows where it happened.\n",
  );
  return EXIT.notDone;
}
