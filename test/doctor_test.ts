import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Finding } from "../lib/doctor/finding.ts";
import { BAT, Evaluation } from "./_evaluation.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-doctor-"));
  cpSync(fileURLToPath(new URL("../fixtures/adk", import.meta.url)), folder, { recursive: true });
});
after(() => rmSync(folder, { recursive: true, force: true }));

function bat(cwd: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  const { OPENAI_API_KEY: _, NODE_TEST_CONTEXT: __, ...rest } = process.env;
  return spawnSync(process.execPath, [BAT, ...args], { cwd, encoding: "utf8", env: { ...rest, ...env } });
}

function findings(cwd: string, env: NodeJS.ProcessEnv = {}, ...args: string[]): Map<string, Finding> {
  const { stdout, stderr } = bat(cwd, env, "doctor", "--json", ...args);
  assert.notEqual(stdout, "", stderr);
  const { findings: found } = JSON.parse(stdout) as { findings: Finding[] };
  return new Map(found.map((finding) => [finding.what, finding]));
}

test("a program that is missing is told with what it is for; what the project cannot do without is a problem", () => {
  // An empty PATH: nothing is found, not even here.
  const found = findings(folder, { PATH: folder });
  assert.equal(found.get("node")?.state, "ok");
  assert.deepEqual(
    [found.get("uv")?.state, found.get("make")?.state, found.get("docker")?.state],
    ["problem", "warning", "warning"],
  );
  assert.match(found.get("uv")!.mend!, /Install uv/);
  const { status } = bat(folder, { PATH: folder }, "doctor");
  assert.equal(status, 1);
  assert.equal(findings(tmpdir(), { PATH: folder }).get("uv")?.state, "warning");
});

test("each agent of a blueprint: its port, its model's key, its dispatcher, its privacy floor, its evaluation", () => {
  const found = findings(folder);
  assert.match(found.get("project")!.found, /A blueprint with desk, supervisor/);
  assert.match(found.get("desk: config")!.found, /desk\/config\.yaml says http:\/\/.*:9921/);
  assert.equal(found.get("desk: evaluation")?.state, "warning");
  const key = found.get("desk: model")!;
  assert.deepEqual([key.state, /OPENAI_API_KEY/.test(key.found)], ["warning", true]);
  assert.equal(findings(folder, { OPENAI_API_KEY: "sk-canary" }).get("desk: model")?.state, "ok");
  assert.ok(!bat(folder, { OPENAI_API_KEY: "sk-canary" }, "doctor").stdout.includes("canary"));
});

test("what is wrong with a project is found: a shared port, a floor, a name the start does not know, a broken file", async () => {
  const broken = join(folder, "..", `${folder.split("/").pop()}-broken`);
  cpSync(folder, broken, { recursive: true });
  try {
    const edit = (file: string, change: (text: string) => string) =>
      writeFileSync(join(broken, file), change(readFileSync(join(broken, file), "utf8")));
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
    });
    edit("supervisor/config.yaml", (text) => text.replace(/\b9922\b/g, String(port)));
    edit("desk/config.yaml", (text) => text.replace(/\b9921\b/g, String(port)));
    edit("__main__.py", (text) =>
      text.replaceAll("import_module(", "import_it(").replaceAll('"desk"', '"desc"'),
    );
    writeFileSync(join(broken, "desk", "floor.py"), 'Client(telemetry_privacy_floor="full")\n');
    mkdirSync(join(broken, "desk", "eval"), { recursive: true });
    writeFileSync(join(broken, "desk", "eval", "eval.yaml"), "models: []\n");
    const found = findings(broken);
    server.close();
    assert.match(found.get("ports")!.found, /desk and supervisor have the same port/);
    assert.match(found.get("desk: port")!.found, new RegExp(`Something answers on port ${port}`));
    assert.match(
      found.get("desk: privacy floor")!.found,
      /floor\.py:1 sets telemetry_privacy_floor to "full"/,
    );
    assert.match(found.get("desk: dispatcher")!.found, /never names "desk"/);
    assert.match(found.get("desk: evaluation")!.found, /models .*Expected at least one model/);
  } finally {
    rmSync(broken, { recursive: true, force: true });
  }
});

test("an evaluation of another kind: its plugins, tasks and judge", () => {
  using evaluation = new Evaluation(
    [{ id: "hello", turns: ["Hello"] }],
    {},
    { judge: { provider: "openai", model: "m", api_key_env: "NO_SUCH_KEY" } },
  );
  const found = findings(evaluation.folder);
  assert.equal(found.get("project")?.state, "ok");
  const [title] = [...found.keys()].filter((what) => what.endsWith(": tasks"));
  assert.match(found.get(title!)!.found, /1 in eval\/input\/tasks\.json/);
  const judge = found.get(title!.replace("tasks", "judge"))!;
  assert.deepEqual([judge.state, /NO_SUCH_KEY/.test(judge.found)], ["problem", true]);
});

test("plugins are listed with where they come from; a new check is written, found, and held against its fixtures", () => {
  using evaluation = new Evaluation([{ id: "hello", turns: ["Hello"], expected: {} }]);
  const written = evaluation.bat("plugin", "new", "check", "max_output_chars");
  assert.equal(written.status, 0, written.stderr);
  assert.match(written.stdout, /Wrote eval\/plugins\/checks\/max_output_chars\.ts/);
  const listed = evaluation.bat("plugin", "list", "--kind", "checks", "--json");
  const plugins = JSON.parse(listed.stdout) as { id: string; source: string }[];
  assert.deepEqual(
    plugins.filter(({ source }) => source !== "built-in").map(({ id, source }) => [id, source]),
    [["max_output_chars", "project"]],
  );
  assert.match(evaluation.bat("plugin", "list").stdout, /rubrics +relevance +built-in +/);
  assert.match(evaluation.bat("plugin", "doctor").stdout, /plugins of \d+ kinds load, 2 fixtures hold/);
  evaluation.tasks([{ id: "hello", turns: ["Hello"], expected: { max_output_chars: 1 } }]);
  const { result } = evaluation.json("eval", "run");
  assert.equal(result.failed, 1);
  assert.match(result.models[0]!.tasks[0]!.failures[0]!.reason, /characters, expected at most 1/);
  const again = evaluation.bat("plugin", "new", "check", "max_output_chars");
  assert.deepEqual([again.status, /There is a check "max_output_chars"/.test(again.stderr)], [2, true]);
  const fixture = join(
    evaluation.folder,
    "eval",
    "plugins",
    "checks",
    "fixtures",
    "max_output_chars",
    "fails.json",
  );
  writeFileSync(fixture, readFileSync(fixture, "utf8").replace('"ok": false', '"ok": true'));
  writeFileSync(join(evaluation.folder, "eval", "plugins", "checks", "broken.ts"), "export default 1;");
  const wrong = evaluation.bat("plugin", "doctor");
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /Cannot load check "broken"/);
  rmSync(join(evaluation.folder, "eval", "plugins", "checks", "broken.ts"));
  const { status, stderr } = evaluation.bat("plugin", "doctor");
  assert.equal(status, 2);
  assert.match(stderr, /fails\.json: Expected the check to hold, it said: output: 34 characters/);
});

test("a card that cannot be read or says too little, and packages that are not installed", () => {
  const broken = mkdtempSync(join(tmpdir(), "bat-doctor-"));
  try {
    cpSync(folder, broken, { recursive: true });
    writeFileSync(join(broken, "desk", "agent.json"), '{"name": "desk", "url": "http://x"}');
    writeFileSync(join(broken, "supervisor", "agent.json"), '{"name": "supervisor", "skills": []}');
    const found = findings(broken);
    assert.match(found.get("desk: card")!.found, /has url, which the kit adds itself/);
    assert.match(found.get("supervisor: card")!.found, /has no description, no skills/);
    const node = join(broken, "node");
    mkdirSync(join(node, "eval"), { recursive: true });
    writeFileSync(join(node, "package.json"), "{}");
    writeFileSync(
      join(node, "eval", "eval.yaml"),
      "models: ['openai:m']\nagent: {url: 'http://127.0.0.1:1'}\n",
    );
    assert.match(findings(node).get("packages")!.mend!, /npm install/);
  } finally {
    rmSync(broken, { recursive: true, force: true });
  }
});

test("plugins are listed at a blueprint's root and outside of any project too", () => {
  for (const cwd of [folder, tmpdir()]) {
    const { status, stdout, stderr } = bat(cwd, {}, "plugin", "list", "--kind", "providers");
    assert.equal(status, 0, stderr);
    assert.match(stdout, /providers +openai +built-in +OpenAI/);
  }
});
