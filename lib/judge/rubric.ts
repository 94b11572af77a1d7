import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import { parse as parseYaml } from "yaml";
import { BatError, messageOf, type Problem, problemsError } from "../errors.ts";
import type { PluginSource } from "../plugin/sources.ts";
import { check } from "../schema.ts";
import { digestOf } from "../store/atomic.ts";
import { didYouMean } from "../text/nearest.ts";

const SECTIONS = ["query", "response", "status", "context", "expected", "user_facts", "tool_calls"] as const;
/** A part of the material that a judge can be given. */
export type Section = (typeof SECTIONS)[number];
/** Other names that rubrics have for a section. */
const ALIASES: Readonly<Record<string, Section>> = { trajectory: "context", expected_desc: "expected" };
const NAMES = [...SECTIONS, ...Object.keys(ALIASES)];

const FrontMatter = v.object({
  name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "Expected a name such as task_completion")),
  score: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "Expected a field name such as response_relevance")),
  title: v.string(),
  description: v.optional(v.string(), ""),
  version: v.union([v.string(), v.number()]),
  modes: v.optional(v.array(v.picklist(["full", "outcome"])), ["full"]),
  applies_when: v.optional(v.picklist(["always", "tool_calls_expected"]), "always"),
  /** What the reasoning says where the rubric does not apply. */
  skipped: v.optional(v.string(), "does not apply to this task"),
  needs: v.optional(v.array(v.picklist(NAMES)), [...SECTIONS]),
});

/** What a judge is asked: a Markdown file's front matter and its text. */
export interface Rubric extends Omit<v.InferOutput<typeof FrontMatter>, "needs"> {
  /** Sections of material that it is given. */
  needs: Section[];
  /** The instructions, rendered; nobody's data is in them. */
  text: string;
  /** Of the whole file. */
  digest: string;
  file: string;
}

/**
 * The rubrics of all sources for a mode (of every mode when it is null), by name. Those of a pack have its name before
 * theirs.
 *
 * @throws BatError (code `plugin`) with everything that is wrong in any of the files
 */
export async function loadRubrics(
  mode: "full" | "outcome" | null,
  sources: readonly PluginSource[],
): Promise<Rubric[]> {
  const rubrics: Rubric[] = [];
  const problems: Problem[] = [];
  for (const { folder, pack, title } of sources) {
    const place = folder("rubrics");
    for (const name of place === null ? [] : await rubricFiles(place, pack, title)) {
      const file = join(place!, name);
      try {
        const rubric = await parseRubric(await readFile(file, "utf8"), file);
        rubrics.push(pack === null ? rubric : { ...rubric, name: `${pack}/${rubric.name}` });
      } catch (error) {
        const reasons =
          error instanceof BatError && error.problems.length > 0
            ? error.problems
            : [{ message: messageOf(error) }];
        problems.push(...reasons.map((reason) => ({ file: basename(file), ...reason })));
      }
    }
  }
  const chosen = mode === null ? rubrics : rubrics.filter(({ modes }) => modes.includes(mode));
  for (const [i, rubric] of chosen.entries()) {
    const twin = chosen
      .slice(0, i)
      .find(
        ({ name, score, modes }) =>
          (name === rubric.name || score === rubric.score) && modes.some((one) => rubric.modes.includes(one)),
      );
    if (twin !== undefined)
      problems.push({
        message: `Two rubrics have the name or score of "${rubric.name}": ${twin.file} and ${rubric.file}`,
      });
  }
  if (problems.length > 0) throw problemsError("plugin", "Rubrics cannot be used:", problems);
  return chosen.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A pack that says where its rubrics are must have them there. */
async function rubricFiles(folder: string, pack: string | null, title: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((one) => /^[^._].*\.md$/.test(one)).sort();
  } catch (error) {
    if (pack === null && (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new BatError("plugin", `Cannot read the rubrics of ${title}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function parseRubric(content: string, file: string): Promise<Rubric> {
  const [, front, body = ""] = /^\ufeff?---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(content) ?? [];
  if (front === undefined) throw new BatError("plugin", "Expected front matter between two lines of ---");
  const checked = check(FrontMatter, parseYaml(front) as unknown);
  if (!checked.ok) throw new BatError("plugin", "does not fit", { problems: checked.problems });
  const { text, named } = body.includes("<%") ? await rendered(body) : { text: body, named: [] };
  if (text.trim() === "") throw new BatError("plugin", "Expected the rubric's text below its front matter");
  const needs = [...new Set([...checked.output.needs, ...named].map(sectionOf))];
  return { ...checked.output, needs, text: text.trim(), digest: digestOf(content), file };
}

function sectionOf(name: string): Section {
  return ALIASES[name] ?? (name as Section);
}

/**
 * Renders a rubric with eta when it is loaded, once and for all episodes: a variable such as `<%= it.query %>` becomes the
 * name of the section that the judge finds the text in. So no template ever sees what an agent or a user wrote.
 */
async function rendered(body: string): Promise<{ text: string; named: string[] }> {
  const { Eta } = await import("eta");
  const named: string[] = [];
  const variables = Object.fromEntries(NAMES.map((name) => [name, ""]));
  const it = new Proxy(variables, {
    get(_, name) {
      if (typeof name !== "string" || !NAMES.includes(name)) {
        const known = didYouMean(String(name), NAMES) || `; there are ${NAMES.join(", ")}`;
        throw new BatError("plugin", `Unknown variable it.${String(name)}${known}`);
      }
      named.push(name);
      return `the section "${sectionOf(name)}"`;
    },
  });
  try {
    return { text: new Eta({ autoEscape: false }).renderString(body, it), named };
  } catch (error) {
    const [cause] = [(error as { cause?: unknown }).cause, error].filter((one) => one instanceof BatError);
    if (cause !== undefined) throw cause;
    throw new BatError("plugin", `The template cannot be rendered: ${messageOf(error).split("\n")[0]}`, {
      cause: error,
    });
  }
}
