/**
 * Every suite that needs more than Node and npm packages, one after the other, as one run of node's test runner: the
 * files `test/<suite>.ts` for which there is a script `test:<suite>`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  scripts: Record<string, string>;
};
const suites = Object.keys(scripts)
  .filter((name) => /^test:(?!all$)/.test(name))
  .map((name) => `test/${name.slice("test:".length)}.ts`);
const runner = spawn(process.execPath, ["--test", "--test-concurrency=1", ...suites], {
  cwd: root,
  stdio: "inherit",
});
const [code] = (await once(runner, "exit")) as [number | null];
process.exit(code ?? 1);
