import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";

const GOLDEN = fileURLToPath(new URL("../../fixtures/golden/manifests/", import.meta.url));

interface Step {
  cwd: string;
  command: string[];
  exit: number;
  env?: Record<string, string>;
  files: string[];
  parsed: Record<string, unknown>;
  says?: string;
  added?: string[];
  changes?: string[];
}

interface Recorded {
  given: Record<string, string>;
  before: { cwd: string; command: string[] }[];
  folders: string[];
  removed: string[];
  git: boolean;
  env: Record<string, string>;
  steps: Step[];
  reference_is_wrong?: string;
}

type Raw = Record<string, unknown>;

function recordedCases(): Record<string, Recorded> {
  const cases: Record<string, Recorded> = {};
  const all = JSON.parse(readFileSync(join(GOLDEN, "cases.json"), "utf8")) as Record<string, Raw>;
  const nothing = { before: [], folders: [], removed: [], git: false, env: {} };
  for (const [name, raw] of Object.entries(all)) {
    const steps = (raw.steps as (Step & { written: string[] })[]).map((step) => ({
      ...step,
      files: step.written,
    }));
    cases[name] = { ...nothing, ...(raw as unknown as Recorded), steps };
  }
  for (const file of readdirSync(join(GOLDEN, "cases"))) {
    const raw = JSON.parse(readFileSync(join(GOLDEN, "cases", file), "utf8")) as Raw & Step;
    cases[file.replace(/\.json$/, "")] = {
      ...nothing,
      ...(raw as unknown as Recorded),
      removed: (raw.removed_before as string[] | undefined) ?? [],
      git: raw.git !== undefined,
      steps: [raw],
    };
  }
  return cases;
}

/** Refused, where the reference is wrong and says what is right. */
const REFUSED = new Set([
  "bad-name",
  "clash",
  "cm-existing-duplicate-keys",
  "cm-existing-env-map",
  "cm-existing-list",
  "cm-existing-mode-text",
  "cm-existing-no-kind",
  "cm-existing-not-utf8",
  "cm-existing-other-api",
  "cm-existing-text",
  "cm-name-bad",
  "cm-names-clash",
  "cm-names-unicode",
  "cm-namespace-bad",
  "cm-output-folder",
  "cm-output-missing-folder",
  "cm-root-unicode",
  "cm-vendor-empty",
  "cm-version-code",
  "cm-version-make-code",
  "cm-version-space",
  "fabric-config-broken",
  "fabric-config-mcp-map",
  "fabric-endpoint-no-url",
  "fabric-existing-agents-map",
  "fabric-existing-llm-no-name",
  "fabric-model-broken",
  "fabric-model-list",
  "fabric-model-other-kind",
  "fabric-name-bad",
  "fabric-names-unicode",
  "fabric-telemetry-output-map",
]);

/** The values of the record are not right either: what is, is checked by tests of its own. */
const OWN = new Set([
  "cm-existing-scalars",
  "cm-names-long",
  "fabric-names-long",
  "long-name",
  "fabric-llm-providers",
]);

/** Warned of, where the reference says nothing. */
const WARNED: Record<string, RegExp> = {
  "fabric-llm-unset-model": /MODEL_NAME is not set/,
  "fabric-mcp-repeated": /"https:\/\/b\.example\.com" is not taken/,
};

describe("Recorded manifests", () => {
  const cases = Object.entries(recordedCases());
  let equal = 0;
  let right = 0;
  for (const [name, recorded] of cases) {
    test(name, async () => {
      using folder = new ProjectFolder(
        isScaffolded(recorded) ? {} : recorded.given,
        /not-utf8/.test(name) ? "latin1" : "utf8",
      );
      for (const place of [...recorded.folders, ...recorded.steps.map(({ cwd }) => cwd)])
        mkdirSync(join(folder.dir, place), { recursive: true });
      for (const { cwd, command } of recorded.before) {
        mkdirSync(join(folder.dir, cwd), { recursive: true });
        await folder.bat(command.slice(1), { cwd, env: recorded.env });
      }
      if (isScaffolded(recorded))
        for (const [path, text] of Object.entries(recorded.given)) folder.write(path, text);
      if (recorded.git) commitWithTag(join(folder.dir, "lab"), "v1.2.3");
      for (const path of recorded.removed) rmSync(join(folder.dir, path), { recursive: true });
      for (const step of recorded.steps) await runStep(folder, name, recorded, step);
      if (recorded.reference_is_wrong === undefined) equal += 1;
      else right += 1;
    });
  }
  test("how many are equal", (t) => {
    t.diagnostic(`${equal} equal, ${right} right where the reference is wrong`);
    assert.equal(equal + right, cases.length);
  });
});

/** Whether the project is made by commands, which need an empty folder; what is given then comes after them. */
function isScaffolded({ before }: Recorded): boolean {
  return before[0]?.command[1] === "init";
}

function commitWithTag(cwd: string, tag: string): void {
  const as = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...as, "commit", "-qm", "x"],
    ["tag", tag],
  ])
    execFileSync("git", args, { cwd });
}

async function runStep(folder: ProjectFolder, name: string, recorded: Recorded, step: Step): Promise<void> {
  const before = folder.files();
  const env = { ...recorded.env, ...step.env };
  const words = step.command.slice(1);
  const { exit, stdout, stderr } = await folder.bat(words, { cwd: step.cwd, env });
  const after = folder.files();
  assert.doesNotMatch(stderr, /Internal error|defect/);
  if (exit !== 0) assert.deepEqual(after, before, "a refusal writes nothing");
  if (REFUSED.has(name)) {
    assert.equal(exit, 2, `${stdout}${stderr}`);
    return;
  }
  assert.equal(exit === 0, step.exit === 0, `${stdout}${stderr}`);
  if (exit !== 0) return;
  const written = Object.keys(after).filter((path) => after[path] !== before[path]);
  if (!OWN.has(name)) {
    const given = Object.keys(step.parsed ?? {});
    for (const path of given.filter((one) => /\.yaml$/.test(one)))
      assert.deepEqual(parse(folder.read(path), { merge: true }), step.parsed[path], path);
    if (recorded.reference_is_wrong === undefined) assert.deepEqual(written.sort(), [...step.files].sort());
  }
  if (/\bwarns?:/.test(step.says ?? "") && !OWN.has(name)) assert.match(stderr, /^Warning: /m, name);
  if (WARNED[name] !== undefined) assert.match(stderr, WARNED[name]);
  for (const added of OWN.has(name) ? [] : (step.added ?? [])) assert.ok(stdout.includes(added), stdout);
  for (const change of OWN.has(name) ? [] : (step.changes ?? []))
    if (!change.startsWith("telemetry ")) assert.ok(stdout.includes(change), `${change}\n${stdout}`);
  const again = await folder.bat(words, { cwd: step.cwd, env });
  assert.match(again.stdout, /^No changes$/m, "a second run changes nothing");
  assert.deepEqual(folder.files(), after);
}
