import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

/** Packs the package, installs the tarball into an empty folder and uses it there, on every supported Node there is. */
const root = fileURLToPath(new URL("..", import.meta.url));
const LARGEST_MEGABYTES = 90;
const LINES = ["22", "24", "26"];

let folder = "";
let tarball = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-package-"));
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
  });
  tarball = join(folder, packed.trim().split("\n").pop() ?? "");
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the tarball holds what is needed and no test", () => {
  const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).split("\n");
  // A template is a file of the project that it becomes, tests and TypeScript too.
  const own = files.filter((file) => !file.startsWith("package/templates/"));
  assert.deepEqual(
    own.filter((file) => /_test\.|\.ts$/.test(file) && !file.endsWith(".d.ts")),
    [],
  );
  const needed = ["dist/bin/bat.js", "templates/eval/eval.yaml", "templates/node/src/main.ts", "LICENSE"];
  for (const file of [...needed, "rubrics/relevance.md", "README.md"]) {
    assert.ok(files.includes(`package/${file}`), file);
  }
});

describe("installed", () => {
  for (const line of LINES) {
    test(`on Node ${line}: starts, helps, and runs the demo`, { timeout: 300_000 }, (context) => {
      const place = mkdtempSync(join(folder, `node-${line}-`));
      writeFileSync(
        join(place, "package.json"),
        JSON.stringify({ private: true, allowScripts: { node: true } }),
      );
      const npm = (...args: string[]) => spawnSync("npm", args, { cwd: place, encoding: "utf8" });
      const installed = npm("install", "--no-audit", "--no-fund", "--omit=dev", tarball);
      assert.equal(installed.status, 0, installed.stderr);
      const megabytes = sizeOf(join(place, "node_modules")) / 1e6;
      assert.ok(megabytes <= LARGEST_MEGABYTES, `${megabytes.toFixed(1)} MB installed`);
      context.diagnostic(`${megabytes.toFixed(1)} MB installed`);
      const nodePlace = join(place, "runtime");
      const runtime = spawnSync(
        "npm",
        ["install", "--no-audit", "--no-fund", "--prefix", nodePlace, `node@${line}`],
        {
          cwd: place,
          encoding: "utf8",
        },
      );
      const node = join(nodePlace, "node_modules", "node", "bin", "node");
      assert.ok(existsSync(node), `Node ${line} cannot be had: ${runtime.stderr}`);
      const bat = (...args: string[]) =>
        spawnSync(node, [join(place, "node_modules", "bat-toolkit", "dist", "bin", "bat.js"), ...args], {
          cwd: place,
          encoding: "utf8",
        });
      assert.match(bat("--version").stdout, /^bat \d+\.\d+\.\d+\n$/);
      assert.match(bat("--help").stdout, /bat eval run/);
      const demo = bat("demo", "--json");
      assert.equal(demo.status, 0, demo.stderr);
      const result = JSON.parse(demo.stdout) as {
        planned: number;
        passed: number;
        failed: number;
        state: string;
      };
      assert.deepEqual(
        { planned: result.planned, passed: result.passed, failed: result.failed, state: result.state },
        { planned: 6, passed: 4, failed: 2, state: "complete" },
      );
    });
  }
});

function sizeOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path, { withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isSymbolicLink() ? 0 : sizeOf(join(path, entry.name))),
    0,
  );
}
