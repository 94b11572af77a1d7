import { styleText } from "node:util";
import type { ArgSpec, Command, FlagSpec } from "./command.ts";
import { wrap } from "./layout.ts";
import { COMMON_FLAGS } from "./parse.ts";
import { commandsBelow, type TreeNode } from "./tree.ts";

interface Style {
  color: boolean;
  columns: number;
}

/** Help of a place in the tree: a command's own, or the list of what is below. */
export async function helpText(node: TreeNode, command: Command | null, style: Style): Promise<string> {
  return command === null ? await groupHelp(node.path, style) : commandHelp(node.path, command, style);
}

function heading(text: string, { color }: Style): string {
  return color ? styleText("bold", text) : text;
}

async function groupHelp(path: readonly string[], style: Style): Promise<string> {
  const commands = await commandsBelow(path);
  const groups = new Map<string, [string, string][]>();
  for (const { path: place, command } of commands) {
    const rows = groups.get(command.group) ?? [];
    rows.push([["bat", ...place, ...(command.args ?? []).map(argText)].join(" "), command.summary]);
    groups.set(command.group, rows);
  }
  const words = ["bat", ...path].join(" ");
  const intro =
    path.length === 0
      ? "bat: scaffold, configure and evaluate AI agents that speak A2A"
      : `${words}: ${commands.length} command${commands.length === 1 ? "" : "s"}`;
  const parts = [intro, "", heading("Usage", style), `  ${words} <command> [flags]`];
  for (const [group, rows] of groups) parts.push("", heading(group, style), table(rows, style));
  parts.push("", `\`${words} <command> --help\` shows a command's flags and examples.`);
  return parts.join("\n");
}

function commandHelp(path: readonly string[], command: Command, style: Style): string {
  const args = command.args ?? [];
  const usage = ["bat", ...path, ...args.map(argText), "[flags]"].join(" ");
  const parts = [command.summary, "", heading("Usage", style), `  ${usage}`];
  if (command.description !== undefined) parts.push("", ...wrap(command.description, style.columns));
  if (args.length > 0)
    parts.push(
      "",
      heading("Arguments", style),
      table(
        args.map((arg) => [argText(arg), arg.summary]),
        style,
      ),
    );
  const own = Object.entries(command.flags ?? {});
  if (own.length > 0) parts.push("", heading("Flags", style), table(own.map(flagRow), style));
  parts.push("", heading("Everywhere", style), table(Object.entries(COMMON_FLAGS).map(flagRow), style));
  const examples = command.examples ?? [];
  if (examples.length > 0) {
    parts.push("", heading("Examples", style));
    for (const { command: line, does } of examples) parts.push(`  ${line}`, `      ${does}`);
  }
  return parts.join("\n");
}

function argText({ name, optional, variadic }: ArgSpec): string {
  const text = `${name}${variadic === true ? "…" : ""}`;
  return optional === true ? `[${text}]` : text;
}

function flagRow([name, spec]: [string, FlagSpec]): [string, string] {
  const long =
    name.length === 1
      ? `-${name}`
      : `--${spec.type === "boolean" && spec.negatable === true ? "[no-]" : ""}${name}`;
  const short = spec.short === undefined ? "    " : `-${spec.short}, `;
  const value =
    spec.type === "boolean"
      ? ""
      : ` ${spec.value ?? (spec.type === "string" || spec.type === "list" ? "TEXT" : "N")}`;
  const notes: string[] = [];
  if ("choices" in spec && spec.choices !== undefined) notes.push(`one of ${spec.choices.join(", ")}`);
  if ("required" in spec && spec.required === true) notes.push("required");
  if ("default" in spec && spec.default !== undefined) notes.push(`default ${spec.default}`);
  if (spec.type === "list") notes.push("can be repeated");
  return [`${short}${long}${value}`, `${spec.summary}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`];
}

function table(rows: readonly (readonly [string, string])[], { columns }: Style): string {
  const width = Math.min(Math.max(...rows.map(([left]) => left.length)), 40);
  const room = Math.max(columns - width - 4, 24);
  const lines: string[] = [];
  for (const [left, right] of rows) {
    const [first = "", ...more] = wrap(right, room);
    const fits = left.length <= width;
    if (!fits) lines.push(`  ${left}`);
    lines.push(
      `  ${(fits ? left : "").padEnd(width)}  ${first}`.trimEnd(),
      ...more.map((line) => `${" ".repeat(width + 4)}${line}`),
    );
  }
  return lines.join("\n");
}
