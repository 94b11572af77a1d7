import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";

const MAKEFILE =
  "DOCKER_REGISTRY ?= r.example.com\nREPO ?= x\nVERSION ?= 1\nIMAGE = $(DOCKER_REGISTRY)/$(REPO):$(VERSION)\nbuild:\n\tdocker build --tag $(IMAGE) .\npush:\n\tdocker push $(IMAGE)\n";
/** Each would do something to make, a shell or an engine, were it let through. */
const HOSTILE = [
  "$(shell touch pwned)",
  "${shell touch pwned}",
  "$$(touch pwned)",
  "`touch pwned`",
  "1;touch pwned",
  "1&&touch pwned",
  "1|touch pwned",
  "1\ntouch pwned",
  "1\r\n\ttouch pwned",
  ">pwned",
  "a b",
  " a",
  "a\t",
  "'",
  '"',
  "\\",
  "a\\\n",
  "-f",
  "--help",
  "--push",
  "a#b",
  "a=b",
  "*",
  "~",
  "!x",
  "a%b",
  "..",
  "../x",
  "a//b",
  "/",
  ":",
  "a:",
  "@x",
  "é",
  "\u202ea",
  "x".repeat(300),
];
/** Characters that make or a shell acts on. */
const ACTED_ON = /[\s$`"'\\;|&<>(){}[\]*?!#~]/;

const FLAGS = ["--docker-registry", "--repo", "--version"] as const;

function project(makefile: boolean): ProjectFolder {
  const folder = new ProjectFolder({
    Dockerfile: "FROM scratch\n",
    ...(makefile ? { Makefile: MAKEFILE } : {}),
  });
  folder.standIn("docker");
  return folder;
}

describe("Values that reach make or a shell", () => {
  for (const makefile of [true, false]) {
    for (const command of ["build", "push"]) {
      for (const flag of FLAGS) {
        test(`bat ${command} ${flag}, ${makefile ? "with" : "without"} a Makefile`, async () => {
          using folder = project(makefile);
          const before = folder.files();
          for (const value of HOSTILE) {
            const { exit, stderr } = await folder.bat([command, `${flag}=${value}`]);
            assert.equal(exit, 2, JSON.stringify(value));
            assert.match(stderr, new RegExp(`${flag} must be `));
          }
          assert.deepEqual(folder.calls(), [], "nothing ran");
          assert.deepEqual(folder.files(), before, "nothing was made");
        });
      }
    }
  }

  for (const flag of ["--docker-registry", "--repo"]) {
    test(`bat set image ${flag}`, async () => {
      using folder = project(true);
      const before = folder.files();
      for (const value of HOSTILE) {
        for (const more of [[], ["--dry-run"]]) {
          const { exit, stdout } = await folder.bat(["set", "image", `${flag}=${value}`, ...more]);
          assert.equal(exit, 2, JSON.stringify(value));
          assert.equal(stdout, "");
        }
      }
      assert.deepEqual(folder.files(), before);
    });
  }

  for (const name of ["DOCKER_REGISTRY", "REPO", "VERSION"]) {
    test(`${name} in the environment`, async () => {
      using folder = project(true);
      const before = folder.files();
      for (const value of HOSTILE.filter((text) => ACTED_ON.test(text.trim()))) {
        for (const command of ["build", "push"]) {
          const { exit, stderr } = await folder.bat([command], { env: { [name]: value } });
          assert.equal(exit, 2, JSON.stringify(value));
          assert.match(stderr, new RegExp(`${name} in the environment must be`));
        }
      }
      assert.deepEqual(folder.calls(), []);
      assert.deepEqual(folder.files(), before);
    });
  }

  test("MAKEFLAGS and the like do not reach make", async () => {
    using folder = project(true);
    const env = { MAKEFLAGS: "--eval=$(shell touch pwned)", GNUMAKEFLAGS: "-n", MAKEFILES: "/nowhere/x.mk" };
    const { exit } = await folder.bat(["build"], { env });
    assert.equal(exit, 0);
    assert.deepEqual(folder.calls(), [["docker", "build", "--tag", "r.example.com/x:1", "."]]);
    assert.deepEqual(Object.keys(folder.files()).sort(), ["Dockerfile", "Makefile"]);
  });

  test("a folder whose name a shell would act on", async () => {
    using folder = new ProjectFolder({ "$(touch pwned) x/Dockerfile": "FROM scratch\n" });
    folder.standIn("docker");
    const refused = await folder.bat(["build"], { cwd: "$(touch pwned) x" });
    assert.equal(refused.exit, 2);
    assert.match(refused.stderr, /cannot name an image; give one with --repo/);
    const built = await folder.bat(["build", "--repo", "x"], { cwd: "$(touch pwned) x" });
    assert.equal(built.exit, 0);
    assert.equal(Object.keys(folder.files()).length, 1);
  });

  test("a program that may not be run is told", async () => {
    using folder = new ProjectFolder({ Dockerfile: "FROM scratch\n" });
    const { exit, stderr } = await folder.bat(["build"], { env: { PATH: folder.dir } });
    assert.equal(exit, 1);
    assert.match(stderr, /Cannot run "docker": no program of that name was found/);
  });
});

describe("Values that reach config.yaml", () => {
  const TEXTS = [
    ...HOSTILE,
    ..."yes no on off y n true null ~ 1e3 1.0 0x1F 0o17 017 0b1 1_000 12:30:45 2024-01-01 .5 .inf +1 -1 = << NaN".split(
      " ",
    ),
    ..."*x|&a b|!!int 5|{}|[|]|%YAML|@a|# c|a #b|a: b|a:|- a|? a|||>|--- a|...|a\u0085b|a\u2028b|\ufeffa|日本|a\tb|😀".split(
      "|",
    ),
  ].filter((text) => text.trim() !== "");
  for (const flag of ["--model", "--reasoning-effort", "--service-tier"]) {
    test(`bat set config ${flag} keeps every text a text`, async () => {
      const given = {
        "config.yaml": "# mine\nmodel:\n  provider: openai # why\n",
        "agent.json": "{}",
        "pyproject.toml": "",
      };
      using folder = new ProjectFolder(given);
      const key = flag === "--model" ? "name" : flag.slice(2).replace("-", "_");
      for (const value of TEXTS) {
        folder.write("config.yaml", given["config.yaml"]);
        const { exit, stderr } = await folder.bat(["set", "config", `${flag}=${value}`]);
        assert.equal(exit, 0, stderr);
        const text = folder.read("config.yaml");
        assert.ok(text.startsWith(given["config.yaml"]), text);
        for (const version of ["1.1", "1.2"] as const) {
          const read = parse(text, { version }) as { model: Record<string, unknown> };
          // Only Python reads this file, to which these are letters.
          if (!(version === "1.1" && /^[yn]$/i.test(value)))
            assert.deepEqual(read.model, { provider: "openai", [key]: value });
        }
      }
    });
  }
});
