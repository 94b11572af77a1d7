/**
 * Scores through every provider's own API, spoken by a proxy that is nobody's here: LiteLLM's, from PyPI, with mock
 * answers. Needs a Python ≥ 3.12 and PyPI; brings uv itself.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort, isListening } from "../lib/agent/port.ts";
import { type JudgeConfig, readyPanel } from "../lib/judge/settings.ts";
import { Evaluation, exitOf } from "./_evaluation.ts";
import { uvExports } from "./_uv.ts";

/** Kept from one run of the tests to the next, so that only the first one installs. */
const cache = join(tmpdir(), "bat-litellm-cache");
const KEY = "sk-proxy-canary-1";
const { signal } = new AbortController();
const prompt = { instructions: "You judge. Answer in JSON.", data: "The answer was: hello", digest: "d" };

const mocks = {
  mock: '{"reasoning": "as the mock says", "score": 0.8}',
  prose: 'I think so: {"reasoning": "in prose", "score": 0.3}',
  useless: "I would rather not say",
  limited: "litellm.RateLimitError",
  broken: "litellm.InternalServerError",
};

let folder = "";
let port = 0;
let proxy: ChildProcess | undefined;

before(
  async () => {
    folder = mkdtempSync(join(tmpdir(), "bat-litellm-"));
    port = await freePort();
    const env = { ...process.env, ...uvExports(cache) };
    const program = join(cache, "env", "bin", "litellm");
    if (!existsSync(program)) {
      const python = join(cache, "env", "bin", "python");
      for (const args of [
        ["venv", "--clear", join(cache, "env")],
        ["pip", "install", "--python", python, "litellm[proxy]"],
      ]) {
        const { status, stderr } = spawnSync("uv", args, { env, encoding: "utf8" });
        assert.equal(
          status,
          0,
          `These tests need LiteLLM's proxy from PyPI, which cannot be installed: ${stderr}`,
        );
      }
    }
    const config = {
      model_list: Object.entries(mocks).map(([model_name, mock_response]) => ({
        model_name,
        litellm_params: { model: "openai/gpt-4o", api_key: "none", mock_response },
      })),
      router_settings: { num_retries: 0, disable_cooldowns: true },
      litellm_settings: { num_retries: 0, telemetry: false },
      general_settings: { master_key: KEY },
    };
    // JSON is YAML.
    writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
    const args = ["--config", "config.yaml", "--host", "127.0.0.1", "--port", String(port)];
    const quiet = { LITELLM_TELEMETRY: "False", LITELLM_LOCAL_MODEL_COST_MAP: "True" };
    proxy = spawn(program, args, {
      cwd: folder,
      env: { ...env, ...quiet },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    for (const stream of [proxy.stdout, proxy.stderr])
      stream?.setEncoding("utf8").on("data", (chunk) => {
        log += chunk;
      });
    while (!(await isListening(`http://127.0.0.1:${port}`))) {
      assert.equal(proxy.exitCode, null, `LiteLLM's proxy ended at once: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  },
  { timeout: 900_000 },
);
after(async () => {
  if (proxy !== undefined) {
    proxy.kill("SIGKILL");
    await exitOf(proxy);
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Every API that the proxy speaks, with the provider of ours that speaks it. */
const shapes: { provider: string; api?: string; path: string; env?: Record<string, string> }[] = [
  { provider: "openai", path: "/v1" },
  { provider: "openai", api: "responses", path: "/v1" },
  { provider: "scripted", path: "/v1" },
  { provider: "ollama", path: "/v1" },
  { provider: "deepseek", path: "/v1" },
  { provider: "nvidia", path: "/v1" },
  { provider: "openrouter", path: "/v1" },
  { provider: "mistral", path: "/v1" },
  { provider: "groq", path: "/v1" },
  { provider: "anthropic", path: "/v1" },
  { provider: "google", path: "/v1beta" },
  { provider: "azure", path: "" },
  { provider: "azure", api: "chat", path: "" },
];

function judgeAt({ provider, api, path, env }: (typeof shapes)[number], model: string, key = KEY) {
  const base_url = `http://127.0.0.1:${port}${path}`;
  const config: JudgeConfig = {
    provider,
    model,
    base_url,
    api_key_env: "K",
    timeout_s: 60,
    ...(env === undefined ? {} : { env }),
  };
  const place = { dir: folder, packs: [], env: { K: key }, signal };
  return readyPanel([{ ...config, api: api ?? null }], place);
}

for (const shape of shapes) {
  const name = shape.api === undefined ? shape.provider : `${shape.provider} (${shape.api})`;
  test(`${name}: a score, one in prose, none, and a wrong key, through a real proxy`, {
    timeout: 120_000,
  }, async () => {
    const ask = async (model: string, key?: string) =>
      await (await judgeAt(shape, model, key)).judges[0]!.judge.ask("relevance", prompt);
    const good = await ask("mock");
    assert.deepEqual([good.score, good.reasoning, good.requests], [0.8, "as the mock says", ["structured"]]);
    assert.ok(good.tokens.in > 0 && good.tokens.out > 0, "tokens are counted");
    const prose = await ask("prose");
    assert.deepEqual([prose.score, prose.reasoning], [0.3, "in prose"]);
    const useless = await ask("useless");
    assert.deepEqual([useless.score, useless.requests.length], [null, 3]);
    const refused = await ask("mock", "sk-wrong-canary");
    assert.equal(refused.score, null);
    assert.match(refused.reasoning, /^No score: HTTP 4\d\d/);
    assert.ok(!JSON.stringify(refused).includes("sk-wrong-canary"));
  });
}

test("a proxy that limits the rate, or breaks, is asked again, then told; no score is made up", {
  timeout: 300_000,
}, async () => {
  for (const [model, status] of [
    ["limited", 429],
    ["broken", 500],
  ] as const) {
    const panel = await judgeAt(shapes[0]!, model);
    const judged = await panel.judges[0]!.judge.ask("relevance", prompt);
    assert.equal(judged.score, null);
    assert.match(judged.reasoning, new RegExp(`^No score: HTTP ${status}`));
  }
});

test("a whole qualitative run through the proxy, with a panel of three providers", {
  timeout: 120_000,
}, async () => {
  using evaluation = new Evaluation(
    [
      { id: "stock", turns: ["How many bolts?"], expected: { tool_calls: [{ name: "stock" }] } },
      { id: "hello", turns: ["Hello"] },
    ],
    { qualitative: true },
    {
      judges: ["openai", "anthropic", "google"].map((provider) => {
        const path = shapes.find((shape) => shape.provider === provider)!.path;
        return {
          provider,
          model: "mock",
          base_url: `http://127.0.0.1:${port}${path}`,
          api_key_env: "PROXY_KEY",
        };
      }),
    },
  );
  mkdirSync(evaluation.folder, { recursive: true });
  writeFileSync(join(evaluation.folder, ".env"), `PROXY_KEY=${KEY}\n`);
  const { status, result, stderr } = evaluation.json("eval", "run");
  assert.equal(status, 0, stderr);
  const { qualitative, judging } = result.models[0]!;
  assert.equal(qualitative.response_relevance?.avg.toFixed(6), "0.800000");
  assert.deepEqual([judging.relevance!.asked, judging.relevance!.disagreement], [6, 0]);
  assert.ok(!readFileSync(evaluation.file("run.json"), "utf8").includes(KEY));
});
