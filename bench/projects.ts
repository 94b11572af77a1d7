/** Making agents and manifests: `bat init agent` against `bat --version`, and a blueprint of 500 agents against one of 125. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BAT } from "../test/_evaluation.ts";
import { median, show } from "./_bench.ts";

const folder = mkdtempSync(join(tmpdir(), "bat-projects-"));

function time(cwd: string, ...args: string[]): number {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [BAT, ...args], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`bat ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

const rounds = Array.from({ length: 11 }, (_, i) => i);
const version = median(rounds.map(() => time(folder, "--version")));
const init = median(rounds.map((i) => time(folder, "init", "agent", `Agent${i}`)));

/** A blueprint of so many agents, the files that matter written straight. */
function blueprint(agents: number): string {
  const root = join(folder, `lab${agents}`);
  time(folder, "init", "blueprint", `lab${agents}`);
  time(root, "add", "agent", "first");
  for (let i = 0; i < agents - 1; i += 1) {
    const dir = join(root, `agent_${i}`);
    mkdirSync(dir);
    const remote =
      i === 0
        ? ""
        : `remote-agents:\n  - name: agent_${i - 1}\n    url: http://localhost:${10_000 + i - 1}\n`;
    const model = `model:\n  provider: openai\n  name: model-${i % 7}\n`;
    writeFileSync(
      join(dir, "config.yaml"),
      `endpoint:\n  url: http://localhost\n  port: ${10_000 + i}\n${model}${remote}`,
    );
    writeFileSync(join(dir, "agent.json"), JSON.stringify({ name: `agent_${i}` }));
  }
  return root;
}

const sizes = [125, 500].map((agents) => {
  const root = blueprint(agents);
  const model = ["manifests", "composition-model", "--vendor", "acme", "--version", "1"];
  const made = time(root, ...model) + time(root, "manifests", "aifabric");
  const again = time(root, ...model) + time(root, "manifests", "aifabric");
  const add = median([0, 1, 2].map((i) => time(root, "add", "agent", `more_${i}`)));
  return { made, again, add };
});
rmSync(folder, { recursive: true, force: true });
const [small, large] = sizes as [(typeof sizes)[0], (typeof sizes)[0]];
const row = (what: string, few: number, many: number, limit: number) => ({
  what,
  measured: `${many.toFixed(0)} ms (${(many / few).toFixed(2)} × that of 125)`,
  target: `< ${limit} ms, at most linear: 4 ×`,
  good: many < limit && many / few <= 4.4,
});
show([
  {
    what: "bat init agent / bat --version",
    measured: `${(init / version).toFixed(2)} × (${init.toFixed(0)} ms / ${version.toFixed(0)} ms)`,
    target: "≤ 2 ×",
    good: init / version <= 2,
  },
  row("bat add agent in a blueprint of 500", small.add, large.add, 1_000),
  row("both manifests of 500 agents, new", small.made, large.made, 2_000),
  row("both manifests of 500 agents, up to date", small.again, large.again, 2_000),
]);
