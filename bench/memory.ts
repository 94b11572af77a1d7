/** Largest resident memory of `bat eval run` at 10,000 attempts against 1,000 (`--quick`: 2,000 against 500). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peakMemory, show } from "./_bench.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bat-memory-"));
const [few, many] = process.argv.includes("--quick") ? [500, 2_000] : [1_000, 10_000];

async function peak(attempts: number): Promise<number> {
  const place = join(folder, String(attempts));
  mkdirSync(join(place, "eval", "input"), { recursive: true });
  const tasks = Array.from({ length: 10 }, (_, i) => ({ id: `t${i}`, turns: ["big 20 How many bolts?"] }));
  writeFileSync(join(place, "eval", "input", "tasks.json"), JSON.stringify(tasks));
  const config = {
    evaluation: { k: attempts / 10, concurrency: 4 },
    agent: {
      url: "http://127.0.0.1:0",
      command: [process.execPath, join(root, "fixtures", "demo", "agent.ts")],
    },
    models: ["scripted:m"],
  };
  writeFileSync(join(place, "eval", "eval.yaml"), JSON.stringify(config));
  const child = spawn(process.execPath, [join(root, "bin", "bat.ts"), "eval", "run"], {
    cwd: place,
    stdio: "ignore",
  });
  let most = 0;
  const timer = setInterval(() => {
    const now = peakMemory(child.pid!);
    if (now > most) most = now;
  }, 50);
  const [code] = (await once(child, "exit")) as [number];
  clearInterval(timer);
  if (code !== 0) throw new Error(`bat eval run ended with ${code}`);
  return most;
}

const small = await peak(few);
const large = await peak(many);
rmSync(folder, { recursive: true, force: true });
const ratio = large / small;
show([
  {
    what: `resident memory at ${many} attempts / at ${few}`,
    measured: `${ratio.toFixed(2)} × (${(large / 1e6).toFixed(0)} MB / ${(small / 1e6).toFixed(0)} MB)`,
    target: "≤ 1.2 ×",
    good: ratio <= 1.2,
  },
]);
