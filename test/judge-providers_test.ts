/**
 * No key in anything that is written or shown, whatever goes wrong: each provider there is, against servers that say the
 * key back in every way, break, redirect or are not there.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { freePort } from "../lib/agent/port.ts";
import { BatError } from "../lib/errors.ts";
import { type JudgeConfig, readyPanel } from "../lib/judge/settings.ts";
import { loadPlugins } from "../lib/plugin/loader.ts";
import { pluginSources } from "../lib/plugin/sources.ts";
import { Evaluation, exitOf } from "./_evaluation.ts";
import { type JudgeReply, type JudgeRequest, judgeServer } from "./_judge-server.ts";

const KEY = "sk-canary/+key 456";
const forms = [
  KEY,
  encodeURIComponent(KEY),
  Buffer.from(KEY).toString("base64"),
  Buffer.from(KEY).toString("base64url"),
];

/** Everything a server knows of the key, in the forms that servers and proxies say it. */
function said({ headers, path }: JudgeRequest): string {
  return [...forms, JSON.stringify(headers), path, `Bearer ${KEY}`].join(" | ");
}

const troubles: Record<string, (request: JudgeRequest) => JudgeReply> = {
  "401 with the key": (request) => ({ status: 401, text: `bad key ${said(request)}` }),
  "400 with the key": (request) => ({ status: 400, text: `bad request ${said(request)}`, code: KEY }),
  "403 as a page": (request) => ({ status: 403, raw: `<html>${said(request)}</html>` }),
  "a page where JSON is meant": (request) => ({ raw: `<html>${said(request)}</html>` }),
  "429, quota spent": (request) => ({ status: 429, code: "insufficient_quota", text: said(request) }),
  "another JSON": (request) => ({ raw: JSON.stringify({ key: said(request), choices: KEY, error: KEY }) }),
  "a redirect": (request) =>
    request.path === "/elsewhere"
      ? { status: 404, text: said(request) }
      : { status: 302, text: said(request), headers: { location: "/v1/elsewhere" } },
  "an answer with the key": (request) => ({ text: JSON.stringify({ reasoning: said(request), score: 0.5 }) }),
  "prose with the key": (request) => ({ text: said(request) }),
};

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "bat-canary-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
const prompt = { instructions: "judge", data: "data", digest: "d" };
const providers = await loadPlugins("providers", pluginSources());

function configOf(provider: string, base_url: string): JudgeConfig {
  return {
    provider,
    model: "m",
    base_url,
    api_key_env: "JUDGE_KEY",
    env: { AWS_REGION: "us-east-1", AWS_SECRET_ACCESS_KEY: KEY },
    timeout_s: 5,
  };
}

function assertClean(value: unknown, where: string): void {
  const text = typeof value === "string" ? value : inspect(value, { depth: 8 });
  for (const form of forms) assert.ok(!text.includes(form), `${where}: ${text}`);
}

for (const { id, definition } of providers) {
  const apis = definition.apis ?? [null];
  for (const api of apis) {
    test(`${id}${api === null ? "" : ` (${api})`} keeps its key to itself, whatever the server does`, async () => {
      for (const [name, reply] of Object.entries(troubles)) {
        await using server = await judgeServer(reply);
        const place = { dir: folder, packs: [], env: { JUDGE_KEY: KEY }, signal };
        const panel = await readyPanel([{ ...configOf(id, server.url), api }], place);
        const judged = await panel.judges[0]!.judge.ask("relevance", prompt);
        assert.ok(server.requests.length > 0, `${name}: the server was asked`);
        assert.ok(judged.reasoning !== "", name);
        assertClean(judged, `${id}, ${name}`);
        assertClean(panel.judges[0]!.identity, `${id}, ${name}: identity`);
      }
    });
  }
}

test("a server that is not there, an address with a password, an address that is none", async () => {
  const urls = [
    `http://127.0.0.1:${await freePort()}/v1`,
    `http://user:${encodeURIComponent(KEY)}@127.0.0.1:1/v1?api-key=${encodeURIComponent(KEY)}`,
    "not a url $JUDGE_KEY",
    "http://$JUDGE_KEY/v1",
  ];
  const cases = urls.flatMap((url) => providers.map(({ id }) => ({ id, url })));
  await Promise.all(
    cases.map(async ({ id, url }) => {
      const place = { dir: folder, packs: [], env: { JUDGE_KEY: KEY }, signal };
      try {
        const panel = await readyPanel([configOf(id, url)], place);
        assertClean(await panel.judges[0]!.judge.ask("relevance", prompt), `${id} at ${url}`);
        assertClean(panel.judges[0]!.identity, `${id} at ${url}`);
      } catch (error) {
        assert.ok(error instanceof BatError, inspect(error));
        assertClean(error.message, `${id} at ${url}`);
      }
    }),
  );
});

function filesBelow(place: string): string[] {
  return readdirSync(place, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

for (const [name, reply] of Object.entries(troubles)) {
  test(`no file and no output of bat has the key: ${name}`, async () => {
    await using server = await judgeServer(reply);
    using evaluation = new Evaluation(
      [{ id: "hello", turns: ["Hello"] }],
      { qualitative: true },
      { judge: { provider: "openai", model: "m", base_url: server.url, api_key_env: "JUDGE_KEY" } },
    );
    mkdirSync(evaluation.folder, { recursive: true });
    writeFileSync(join(evaluation.folder, ".env"), "");
    let out = "";
    const commands = [
      ["eval", "run"],
      ["eval", "judge", "--no-judge-cache", "--json"],
      ["eval", "show"],
    ];
    for (const args of commands) {
      process.env.JUDGE_KEY = KEY;
      const child = evaluation.start(...args);
      delete process.env.JUDGE_KEY;
      for (const stream of [child.stdout, child.stderr])
        stream?.on("data", (chunk) => {
          out += chunk;
        });
      await exitOf(child);
    }
    assert.ok(server.requests.length >= 6);
    assertClean(out, "output");
    for (const file of filesBelow(evaluation.folder)) assertClean(readFileSync(file, "utf8"), file);
  });
}
