import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../package.ts";

/** What stands for the placeholders of a template, by their word without underscores. */
export interface Values {
  /** Texts: quoted places take any, bare ones only what no language reads as something else. */
  texts: Readonly<Record<string, string>>;
  /** Lines of code, made by us; further ones are indented like the first. */
  code?: Readonly<Record<string, readonly string[]>>;
}

const PLACEHOLDER = /"__([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)__"|__([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)__/g;

/**
 * Fills a template in one pass: a value is data and never looked at for placeholders. `"__WORD__"` as a whole becomes a
 * string as JSON, Python, TOML and YAML all read it; a bare `__WORD__` takes a word.
 */
export function render(template: string, file: string, { texts, code = {} }: Values): string {
  return template.replace(
    PLACEHOLDER,
    (found, quoted: string | undefined, bare: string | undefined, at: number) => {
      const key = (quoted ?? bare)!;
      const lines = code[key];
      if (lines !== undefined && bare !== undefined) {
        const indent = /[ \t]*$/.exec(template.slice(0, at))?.[0] ?? "";
        return lines.join(`\n${indent}`);
      }
      const text = texts[key];
      if (text === undefined) throw new Error(`Template ${file} has the unknown placeholder ${found}`);
      if (quoted !== undefined) return JSON.stringify(text);
      if (!/^[A-Za-z0-9_.-]*$/.test(text) && !/\.md$|dot-env$/.test(file))
        throw new Error(`Template ${file} takes "${text}" at a place without quotes`);
      return text;
    },
  );
}

/** A file of `templates/`, filled. Its place there also is its name in messages. */
export async function renderTemplate(path: string, values: Values): Promise<string> {
  return render(await readFile(join(packageRoot, "templates", path), "utf8"), path, values);
}
