import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ProjectFolder } from "../../test/_project.ts";

const GOLDEN = fileURLToPath(new URL("../../fixtures/golden/image/", import.meta.url));

interface Recorded {
  given: Record<string, string>;
  cwd: string;
  command: string[];
  exit: number;
  ran: string[][];
  env?: Record<string, string>;
  reference_is_wrong?: string;
}

function recordedCases(): Record<string, Recorded> {
  const all = JSON.parse(readFileSync(join(GOLDEN, "cases.json"), "utf8")) as Record<
    string,
    Omit<Recorded, "cwd" | "command" | "exit"> & { docker_ran: string[]; steps: Recorded[] }
  >;
  const cases: Record<string, Recorded> = {};
  for (const [name, { steps, docker_ran, ...rest }] of Object.entries(all))
    cases[name] = { ...steps[0]!, ...rest, ran: docker_ran.map((line) => line.split(" ")) };
  for (const file of readdirSync(join(GOLDEN, "cases"))) {
    const recorded = JSON.parse(readFileSync(join(GOLDEN, "cases", file), "utf8")) as Recorded;
    cases[file.replace(/\.json$/, "")] = { ...recorded, ran: recorded.ran ?? [] };
  }
  return cases;
}

/** What is right where the reference is not: what reaches docker, or null for a refusal before anything runs. */
const RIGHT: Record<string, string[][] | null> = {
  "version-odd": null,
  "version-inject": null,
  "build-lower-makefile": [["docker", "build", "--tag", "x:7", "."]],
  "build-make-code-flag": null,
  "push-make-code-dry-run": null,
};

describe("Recorded builds and pushes", () => {
  let equal = 0;
  let right = 0;
  const cases = Object.entries(recordedCases());
  for (const [name, recorded] of cases) {
    test(name, async () => {
      using folder = new ProjectFolder(recorded.given);
      mkdirSync(join(folder.dir, recorded.cwd), { recursive: true });
      folder.standIn("docker", recorded.env?.DOCKER_FAILS === undefined ? 0 : 17);
      folder.standIn("podman");
      const before = folder.files();
      const { exit, stderr } = await folder.bat(recorded.command.slice(1), {
        cwd: recorded.cwd,
        env: recorded.env ?? {},
      });
      assert.deepEqual(folder.files(), before, "nothing is written");
      assert.doesNotMatch(stderr, /Internal error/);
      const ran = folder.calls().filter(([program]) => program === "docker");
      if (name in RIGHT) {
        const wanted = RIGHT[name]!;
        assert.deepEqual(exit === 0 ? ran : null, wanted, stderr);
        if (wanted === null) assert.deepEqual(ran, []);
        right += 1;
      } else {
        if (recorded.exit <= 1) assert.equal(exit !== 0, recorded.exit !== 0, stderr);
        else assert.equal(exit, recorded.exit, stderr);
        assert.deepEqual(ran, recorded.ran);
        equal += 1;
      }
    });
  }
  test("how many are equal", (t) => {
    t.diagnostic(`${equal} equal, ${right} right where the reference is wrong`);
    assert.equal(equal + right, cases.length);
  });
});
