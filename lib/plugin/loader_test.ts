import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { decide } from "../eval/verdict.ts";
import type { CheckPlugin } from "./define.ts";
import { kindNames, type Loaded, loadPlugins } from "./loader.ts";
import { pluginSources } from "./sources.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-plugins-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function project(files: Record<string, string>): string {
  count += 1;
  const place = join(folder, `p${count}`);
  mkdirSync(place, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  return place;
}

const check = (field: string, more = "") => `import { defineCheck } from "bat-toolkit";
import * as v from "valibot";
export default defineCheck({ apiVersion: 1, title: "T", field: "${field}", schema: v.number(), order: 500,
  run: ({ expected, output }) => ({ ok: output.length <= expected, reason: "length " + output.length }), ${more} });`;

async function failure(place: string): Promise<string> {
  try {
    await loadPlugins("checks", pluginSources({ projectDir: place }));
  } catch (error) {
    assert.equal((error as { code?: string }).code, "plugin");
    return (error as Error).message.replaceAll(place, "<P>");
  }
  throw new Error("it loaded");
}

const decided = {
  status: "completed" as const,
  output: "four",
  trajectory: {
    found: false,
    turns: [],
    totals: {
      model_calls: 0,
      tokens_in: 0,
      tokens_out: 0,
      tokens_cached: 0,
      tool_calls: 0,
      agent_calls: 0,
      errors: 0,
    },
    truncated: false,
  },
};

test("every built-in plugin of every kind loads", async () => {
  for (const kind of await kindNames()) {
    const own = fileURLToPath(new URL(`../../plugins/${kind}`, import.meta.url));
    const files = readdirSync(own).filter((name) => !/^_|_test\./.test(name));
    const loaded = await loadPlugins(kind as "checks", pluginSources());
    assert.deepEqual(
      loaded.map(({ id }) => id).sort(),
      files.map((name) => name.replace(/\.ts$/, "")).sort(),
    );
  }
});

test("a check is one file: dropped into a project it decides, and nothing else knows of it", async () => {
  const place = project({ "eval/plugins/checks/max-chars.ts": check("max_chars") });
  const checks = await loadPlugins("checks", pluginSources({ projectDir: place }));
  const verdict = decide({ max_chars: 3 }, decided, checks);
  assert.deepEqual([verdict.passed, verdict.reason], [false, "length 4"]);
  assert.equal(checks.find(({ id }) => id === "max-chars")?.source, "project");
});

test("private files, tests and declarations are no plugins", async () => {
  const bad = "throw new Error('imported')";
  const names = ["_helper.ts", "x_test.ts", "y.d.ts", "notes.md"];
  const place = project(Object.fromEntries(names.map((name) => [`eval/plugins/checks/${name}`, bad])));
  await loadPlugins("checks", pluginSources({ projectDir: place }));
});

test("all that is wrong with any plugin is told at once, with file, expected and found", async () => {
  const message = await failure(
    project({
      "eval/plugins/checks/old.ts": check("a").replace("apiVersion: 1", "apiVersion: 2"),
      "eval/plugins/checks/broken.ts": "export default {",
      "eval/plugins/checks/nothing.ts": "export const x = 1;",
      "eval/plugins/checks/wrong.mjs":
        "export default { apiVersion: 1, title: 3, field: 'Big', order: 1, run: 5 };",
    }),
  );
  assert.match(
    message,
    /Cannot load check "old" from .*old\.ts: apiVersion: expected apiVersion 1, received 2/,
  );
  assert.match(message, /Cannot load check "broken" from .*broken\.ts: /);
  assert.match(
    message,
    /Cannot load check "nothing" .*: expected a default export made with defineCheck, found none/,
  );
  assert.match(message, /"wrong" .*: title: Expected a text, found 3/);
  assert.match(message, /"wrong" .*: field: Expected a field name/);
  assert.match(message, /"wrong" .*: run: Expected a function/);
  assert.match(message, /"wrong" .*: schema: Missing/);
});

test("two plugins of one id or one field are refused, with both files", async () => {
  const message = await failure(
    project({
      "eval/plugins/checks/status.ts": check("other"),
      "eval/plugins/checks/tokens.ts": check("max_tokens"),
    }),
  );
  assert.match(message, /Two checks have the id "status": .*status\.ts and .*status\.ts/);
  assert.match(
    message,
    /Two checks have the field of expected "max_tokens": .*max-tokens\.ts and .*tokens\.ts/,
  );
});

test("a pack is found from the project as Node finds it, or by its path; its ids carry its name", async () => {
  const pack = { name: "bat-pack-x", version: "1.2.0", bat: { apiVersion: 1, checks: "./checks" } };
  const place = project({
    "node_modules/bat-pack-x/package.json": JSON.stringify(pack),
    "node_modules/bat-pack-x/checks/words.mjs": check("max_words"),
    "local/package.json": JSON.stringify({ ...pack, name: "local-pack" }),
    "local/checks/lines.mjs": check("max_lines"),
  });
  const checks = await loadPlugins(
    "checks",
    pluginSources({ projectDir: place, packs: ["bat-pack-x", "./local"] }),
  );
  const own = checks.filter(({ source }) => source !== "built-in").map(({ id, source }) => [id, source]);
  assert.deepEqual(own, [
    ["bat-pack-x/words", "bat-pack-x 1.2.0"],
    ["local-pack/lines", "local-pack 1.2.0"],
  ]);
});

test("a pack that is not there, or is none, is told", () => {
  const place = project({ "none/package.json": '{"name":"none"}' });
  assert.throws(() => pluginSources({ projectDir: place, packs: ["bat-pack-y", "./none"] }), {
    code: "plugin",
    message:
      /"bat-pack-y": it is not installed; run "npm install bat-pack-y"[\s\S]*"\.\/none": its package\.json is no pack's: bat: Missing/,
  });
});

test("a check that throws or answers nonsense fails alone, and says so", async () => {
  const place = project({
    "eval/plugins/checks/throws.ts": check("throws").replace(
      '({ ok: output.length <= expected, reason: "length " + output.length })',
      "{ throw new Error('oops') }",
    ),
    "eval/plugins/checks/nonsense.ts": check("nonsense").replace(
      '({ ok: output.length <= expected, reason: "length " + output.length })',
      "42",
    ),
  });
  const checks: Loaded<CheckPlugin>[] = await loadPlugins("checks", pluginSources({ projectDir: place }));
  const { passed, checks: results } = decide(
    { throws: 1, nonsense: 1, output_must_contain: ["four"] },
    decided,
    checks,
  );
  assert.equal(passed, false);
  assert.deepEqual(
    results?.map(({ check: id, ok, error }) => [id, ok, error]),
    [
      ["output-must-contain", true, undefined],
      ["nonsense", false, true],
      ["throws", false, true],
    ],
  );
});

test("load order changes no verdict", async () => {
  const sources = pluginSources();
  const checks = await loadPlugins("checks", sources);
  const expected = { status: "error", output_must_contain: ["x"], max_tokens: 1, no_errors: true };
  assert.deepEqual(decide(expected, decided, checks), decide(expected, decided, [...checks].reverse()));
});
