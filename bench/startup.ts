/** `bat --version` as installed against `node -e 0` of the same Node: time and memory, interleaved. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, show } from "./_bench.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
spawnSync(process.execPath, ["tools/build.ts"], { cwd: root, stdio: "inherit" });
const commands = {
  node: ["-e", "0"],
  version: ["dist/bin/bat.js", "--version"],
  help: ["dist/bin/bat.js", "--help"],
};
const times: Record<keyof typeof commands, number[]> = { node: [], version: [], help: [] };
for (let i = 0; i < 40; i += 1) {
  for (const name of ["node", "version", "help"] as const) {
    const begun = performance.now();
    spawnSync(process.execPath, commands[name], { cwd: root });
    if (i >= 3) times[name].push(performance.now() - begun);
  }
}
const memory = (args: string[]) => {
  const script = `process.on("exit", () => console.error(process.resourceUsage().maxRSS))`;
  const { stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(script)}`, ...args],
    { cwd: root, encoding: "utf8" },
  );
  return Number(stderr.trim().split("\n").pop()) / 1024;
};
const base = median(times.node);
const ratio = median(times.version) / base;
show([
  {
    what: "bat --version / node -e 0",
    measured: `${ratio.toFixed(2)} × (${median(times.version).toFixed(0)} ms / ${base.toFixed(0)} ms)`,
    target: "≤ 1.5 ×",
    good: ratio <= 1.5,
  },
  {
    what: "bat --help / node -e 0",
    measured: `${(median(times.help) / base).toFixed(2)} × (${median(times.help).toFixed(0)} ms)`,
    target: "no target",
    good: true,
  },
  {
    what: "memory of bat --version",
    measured: `${memory(commands.version).toFixed(0)} MB (node: ${memory(commands.node).toFixed(0)} MB)`,
    target: "reference 101 MB",
    good: true,
  },
]);
