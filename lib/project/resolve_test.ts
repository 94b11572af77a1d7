import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { canDispatch } from "./dispatcher.ts";
import { blueprintAgents, findBlueprintRoot, resolveAgentProject } from "./resolve.ts";

/** A folder with these files, gone after the test. */
function folderWith(t: TestContext, ...files: string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bat-project-")));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  return folder;
}

const STANDALONE = ["config.yaml", "agent.json", "pyproject.toml"];
const ROOT = ["pyproject.toml", "__main__.py"];
const agent = (name: string) => [`${name}/config.yaml`, `${name}/agent.json`];

describe("resolveAgentProject", () => {
  it("takes a folder with all three files for a standalone agent", async (t) => {
    const dir = folderWith(t, ...STANDALONE);
    const project = await resolveAgentProject({ cwd: dir });
    assert.deepEqual(project, {
      root: dir,
      dir,
      name: null,
      configPath: join(dir, "config.yaml"),
      command: ["uv", "run", "."],
      env: {},
      title: project.title,
    });
  });

  it("starts an agent of a blueprint from the root, however it is named", async (t) => {
    const root = folderWith(t, ...ROOT, ...agent("desk"), ...agent("two"));
    const expected = {
      root,
      dir: join(root, "desk"),
      name: "desk",
      configPath: join(root, "desk", "config.yaml"),
      command: ["uv", "run", ".", "desk"],
      env: { CONFIG_PATH: "desk/config.yaml" },
      title: "desk",
    };
    symlinkSync(join(root, "desk"), join(root, "two", "link"));
    for (const [cwd, named] of [
      [root, "desk"],
      [root, "desk/"],
      [join(root, "desk"), undefined],
      [join(root, "two"), "desk"],
      [join(root, "two", "link"), undefined],
    ] as const)
      assert.deepEqual(await resolveAgentProject({ cwd, agent: named }), expected);
  });

  const wrong: [
    what: string,
    files: string[],
    cwd: string,
    agent: string | undefined,
    code: string,
    says: RegExp,
  ][] = [
    [
      "the root without a name",
      [...ROOT, ...agent("a"), ...agent("b")],
      ".",
      undefined,
      "usage",
      /say which agent\. Agents: a, b/,
    ],
    ["the root of none", ROOT, ".", undefined, "usage", /\(none yet: run bat add agent\)/],
    [
      "an unknown name",
      [...ROOT, ...agent("desk")],
      ".",
      "dsk",
      "usage",
      /Unknown agent "dsk", did you mean "desk"\? Agents of/,
    ],
    [
      "a path",
      [...ROOT, ...agent("desk")],
      ".",
      "./desk",
      "usage",
      /must be the name of an agent, got "\.\/desk"/,
    ],
    ["the root by a dot", [...ROOT, ...agent("desk")], ".", ".", "usage", /must be the name of an agent/],
    ["a name outside a blueprint", STANDALONE, ".", "desk", "usage", /is not in a blueprint/],
    [
      "a name two folders down",
      [...ROOT, ...agent("desk"), "desk/src/x.py"],
      "desk/src",
      "desk",
      "usage",
      /is not in a blueprint/,
    ],
    [
      "a missing card",
      [...ROOT, "desk/config.yaml"],
      "desk",
      undefined,
      "config",
      /desk" is no agent: agent\.json missing/,
    ],
    [
      "a folder of nothing",
      [...ROOT, "docs/x.md"],
      "docs",
      undefined,
      "config",
      /config\.yaml, agent\.json missing/,
    ],
    [
      "a project of its own, by name",
      [...ROOT, ...agent("own"), "own/pyproject.toml"],
      ".",
      "own",
      "config",
      /project of its own/,
    ],
    [
      "no project at all",
      ["x.txt"],
      ".",
      undefined,
      "config",
      /config\.yaml, agent\.json, pyproject\.toml missing.*bat init agent/,
    ],
    [
      "a standalone agent without card",
      ["config.yaml", "pyproject.toml"],
      ".",
      undefined,
      "config",
      /agent\.json missing/,
    ],
  ];
  for (const [what, files, cwd, named, code, says] of wrong) {
    it(`says what is wrong with ${what}`, async (t) => {
      const root = folderWith(t, ...files);
      await assert.rejects(resolveAgentProject({ cwd: join(root, cwd), agent: named }), {
        code,
        message: says,
      });
    });
  }

  it("takes a project within a blueprint for itself", async (t) => {
    const root = folderWith(t, ...ROOT, ...STANDALONE.map((file) => `own/${file}`));
    assert.equal((await resolveAgentProject({ cwd: join(root, "own") })).name, null);
    assert.deepEqual(await blueprintAgents(root), []);
    assert.equal(await findBlueprintRoot(join(root, "own")), null);
  });
});

describe("canDispatch", () => {
  for (const [main, can] of [
    ["import_module(f'{name}.app')", true],
    ['from desk.app import run\nif name == "desk": run()', true],
    ["AGENTS = ['desk']", true],
    ["from desk.app import run\nrun()", false],
    ["AGENTS = ['desktop']", false],
  ] as const) {
    it(`${can ? "yes" : "no"}: ${main.split("\n")[0]}`, async (t) => {
      const root = folderWith(t);
      writeFileSync(join(root, "__main__.py"), main);
      assert.equal(await canDispatch(root, "desk"), can);
    });
  }
});
