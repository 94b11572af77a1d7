import { cp, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { World } from "../cli/command.ts";
import { BatError } from "../errors.ts";
import type { RunResult } from "../eval/observer.ts";
import { evaluate } from "../eval/run-command.ts";
import { packageRoot } from "../package.ts";
import { writeFileAtomic } from "../store/atomic.ts";

const AGENT = fileURLToPath(
  new URL(`../../fixtures/demo/agent${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** The task in which the agent claims what it has not done. */
const CLAIMS = "too_many";

/** Makes the demo's folder, evaluates the agent in it, and says what to look at. Resolves to the exit code. */
export async function runDemo(
  { outputDir, json }: { outputDir: string | undefined; json: boolean },
  world: World,
): Promise<number> {
  const folder = outputDir === undefined ? await freeFolder(world.cwd) : resolve(world.cwd, outputDir);
  await makeFolder(folder);
  const request = {
    tasks: [],
    models: [],
    k: null,
    qualitative: null,
    runName: null,
    agentUrl: null,
    shard: null,
  };
  const result = await evaluate({ cwd: folder }, request, { json }, world);
  if (result === null) return 0;
  if (!json && result.state === "complete") world.stdout.write(nextSteps(folder, result, world));
  return result.exit_code;
}

async function freeFolder(cwd: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const folder = join(cwd, n === 1 ? "bat-demo" : `bat-demo-${n}`);
    if ((await stat(folder).catch(() => null)) === null) return folder;
  }
}

/** The folder appears whole or not at all. */
async function makeFolder(folder: string): Promise<void> {
  if ((await stat(folder).catch(() => null)) !== null) {
    throw new BatError("usage", `"${folder}" is there already; give another --output-dir`);
  }
  await mkdir(dirname(folder), { recursive: true });
  const draft = `${folder}.${process.pid}.tmp`;
  try {
    await cp(join(packageRoot, "fixtures", "demo", "eval"), join(draft, "eval"), { recursive: true });
    const file = join(draft, "eval", "eval.yaml");
    const text = await readFile(file, "utf8");
    const filled = text
      .replace("__NODE__", JSON.stringify(process.execPath))
      .replace("__AGENT__", JSON.stringify(AGENT));
    await writeFileAtomic(file, filled);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function nextSteps(folder: string, { run, models }: RunResult, world: World): string {
  const place = relative(world.cwd, folder) || ".";
  const failures = models.flatMap((model) =>
    model.tasks.flatMap((task) => task.failures.map((one) => ({ ...one, task: task.task_id }))),
  );
  const failure = failures.find(({ task }) => task === CLAIMS);
  const spans = join(place, "eval", "output", run, "spans-0");
  const lines = ["", "What to look at"];
  if (failure !== undefined) {
    lines.push(
      "  Asked for 50 brackets, the agent says that they are reserved. Its spans show that it never did that:",
      `    bat trace ${spans} --conversation ${failure.task}__try${failure.attempt}`,
    );
  }
  lines.push(
    "  Everything else is plain files:",
    `    ${join(place, "eval", "eval.yaml")}, ${join(place, "eval", "input", "tasks.json")}`,
    `    ${join(place, "eval", "output", run)}`,
    "",
    "Your own agent",
    "  bat eval init     in its folder: writes eval/eval.yaml and eval/input/tasks.json",
    "  bat eval run      evaluates it",
  );
  return `${lines.join("\n")}\n`;
}
