import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { describe, test } from "node:test";
import { ProjectFolder } from "../../test/_project.ts";
import { NOTE, WRITER } from "../../test/_writing.ts";

const CONFIG = "# mine\nendpoint: {port: 9900}\nmodel:\n  name: old   # why\n";

function project(): ProjectFolder {
  return new ProjectFolder({ "config.yaml": CONFIG, "agent.json": "{}", "pyproject.toml": "" });
}

describe("bat set", () => {
  test("says what was set, and that nothing is to do", async () => {
    using folder = project();
    const words = ["set", "config", "--model", "new", "--port", "9901"];
    const { exit, stdout } = await folder.bat(words);
    assert.deepEqual([exit, stdout], [0, "Set endpoint.port, model.name in config.yaml\n"]);
    assert.equal(folder.read("config.yaml"), CONFIG.replace("9900", "9901").replace("old", "new"));
    assert.equal(
      (await folder.bat(words)).stdout,
      "No changes: config.yaml has endpoint.port, model.name so already\n",
    );
  });

  test("a dry run shows the difference and writes nothing", async () => {
    using folder = project();
    const { exit, stdout, stderr } = await folder.bat(["set", "config", "--model", "new", "--dry-run"]);
    assert.equal(exit, 0);
    assert.match(stdout, /^--- a\/config\.yaml\n\+\+\+ b\/config\.yaml\n/);
    assert.match(stdout, /\n- {2}name: old {3}# why\n\+ {2}name: new {3}# why\n/);
    assert.match(stderr, /Would set model\.name in config\.yaml; nothing was written/);
    assert.equal(folder.read("config.yaml"), CONFIG);
  });

  test("permissions stay", async () => {
    using folder = project();
    chmodSync(`${folder.dir}/config.yaml`, 0o600);
    assert.equal((await folder.bat(["set", "config", "--model", "new"])).exit, 0);
    assert.deepEqual(Object.keys(folder.files()).sort(), ["agent.json", "config.yaml", "pyproject.toml"]);
  });

  test("ends, and tells, what a killed command left half-way", async () => {
    using folder = project();
    const changes = ["config.yaml", "agent.json"].map((name) => ({
      path: `${folder.dir}/${name}`,
      before: folder.read(name),
      after: `${folder.read(name)}\n`,
    }));
    let noted = false;
    for (let at = 1; !noted; at += 1) {
      const child = spawn(process.execPath, [WRITER, folder.dir, JSON.stringify(changes), String(at)]);
      const [, signal] = (await once(child, "exit")) as [number | null, string | null];
      assert.equal(signal, "SIGKILL", "the note is there at some step");
      noted = NOTE in folder.files();
    }
    const { exit, stdout, stderr } = await folder.bat(["set", "config", "--model", "new"]);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /An earlier writing here had been killed half-way and is ended now/);
    assert.equal(stdout, "Set model.name in config.yaml\n");
    assert.deepEqual(folder.files(), {
      "agent.json": "{}\n",
      "config.yaml": `${CONFIG.replace("old", "new")}\n`,
      "pyproject.toml": "",
    });
  });
});
