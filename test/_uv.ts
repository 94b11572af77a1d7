import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** PATH with uv and a Python that fits, from tools/uv.sh, which keeps what it installs in a folder. */
export function uvExports(folder: string): NodeJS.ProcessEnv {
  const script = `eval "$(bash tools/uv.sh '${folder}')" && printf '%s\\n%s' "$PATH" "$UV_PYTHON"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, `These tests need uv and Python ≥ 3.12, which cannot be had: ${stderr}`);
  const [PATH, UV_PYTHON] = stdout.split("\n");
  return { PATH, UV_PYTHON };
}
