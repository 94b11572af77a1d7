import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { BatError } from "../errors.ts";
import { findTarget } from "../eval/target.ts";
import { loadPlugins } from "./loader.ts";
import { pluginSources } from "./sources.ts";

/**
 * Writes a check of a project's own: its module, two fixtures that `bat plugin doctor` runs, and a test for those who have
 * bat among their packages. Nothing that is there already is touched.
 *
 * @returns the files, relative to where it was called
 * @throws BatError (code `usage`) for a name that no check can have, or one that is taken
 */
export async function newCheck(name: string, cwd: string): Promise<string[]> {
  if (!/^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/.test(name) || name.endsWith("_test"))
    throw new BatError(
      "usage",
      `NAME must be lower-case letters, digits, - and _, beginning with a letter, got "${name}"`,
    );
  const { dir, config } = await findTarget({ cwd });
  const field = name.replaceAll("-", "_");
  const checks = await loadPlugins("checks", pluginSources({ projectDir: dir, packs: config.plugins }));
  const taken = checks.find(({ id, definition }) => id === name || definition.field === field);
  if (taken !== undefined)
    throw new BatError(
      "usage",
      `There is a check "${taken.id}" of the field "${taken.definition.field}" already, in ${relative(cwd, taken.file)}`,
    );
  const folder = join(dir, "eval", "plugins", "checks");
  const files: Record<string, string> = {
    [`${name}.ts`]: moduleText(field),
    [`fixtures/${name}/holds.json`]: fixtureText("short", true),
    [`fixtures/${name}/fails.json`]: fixtureText("an answer that is longer than that", false),
    [`${name}_test.ts`]: testText(name),
  };
  for (const path of Object.keys(files))
    if ((await stat(join(folder, path)).catch(() => null)) !== null)
      throw new BatError("usage", `${relative(cwd, join(folder, path))} is there already`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  return Object.keys(files).map((path) => relative(cwd, join(folder, path)));
}

function moduleText(field: string): string {
  return `import { defineCheck } from "bat-toolkit";
import * as v from "valibot";

/** What a task asks for with \`"expected": {"${field}": 10}\`. Change it into what you need. */
export default defineCheck({
  apiVersion: 1,
  title: "Length of the answer",
  field: "${field}",
  schema: v.pipe(v.number(), v.integer(), v.minValue(0)),
  // needs: ["trajectory"] gives it what the agent did, read from its spans.
  order: 200,
  run: ({ expected, output }) => ({
    ok: output.length <= expected,
    reason: \`output: \${output.length} characters, expected at most \${expected}\`,
  }),
});
`;
}

function fixtureText(output: string, ok: boolean): string {
  return `${JSON.stringify({ expected: 10, status: "completed", output, want: { ok, reason: `${output.length} characters` } }, null, 2)}\n`;
}

function testText(name: string): string {
  return `// Needs bat among the project's packages: npm install --save-dev bat-toolkit. Without: bat plugin doctor.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import check from "./${name}.ts";

const folder = new URL("./fixtures/${name}/", import.meta.url);
for (const file of readdirSync(folder)) {
  test(file, () => {
    const { want, ...given } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    const answers = [check.run(given)].flat();
    assert.equal(answers.every(({ ok }) => ok), want.ok);
    assert.ok(answers.some(({ reason }) => reason.includes(want.reason ?? "")));
  });
}
`;
}
