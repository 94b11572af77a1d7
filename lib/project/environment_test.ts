// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of a shell
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseDotenv, readDotenv } from "./dotenv.ts";
import { agentEnvironment } from "./environment.ts";

describe("parseDotenv", () => {
  const env = { HOME_URL: "http://x" };
  const cases: [text: string, found: Record<string, string>][] = [
    ["A=1\nB = two words \nC=", { A: "1", B: "two words", C: "" }],
    ["export A=1\r\nexport  B='x'\r\n", { A: "1", B: "x" }],
    ["# A=1\n  # B=2\nC=3 # c\nD=4#d\n", { C: "3", D: "4#d" }],
    ["A=\"x\\ny\\\"z\" # c\nB='x\\ny\\'z'", { A: 'x\ny"z', B: "x\\ny'z" }],
    [
      'KEY="-----BEGIN\n# no comment\nA=1\n-----END"\nB=2',
      { KEY: "-----BEGIN\n# no comment\nA=1\n-----END", B: "2" },
    ],
    [
      "A=1\nB=${A}/${HOME_URL}/${NO}/${NO:-else}\nC='${A}'\nD=$A",
      { A: "1", B: "1/http://x//else", C: "1", D: "$A" },
    ],
    ["HOME_URL=mine\nB=${HOME_URL}", { HOME_URL: "mine", B: "http://x" }],
    ["A='never closed\nB=2", { B: "2" }],
    ["A='x' y\nB=2", { B: "2" }],
    ["=1\nB=2\nNAME\n'odd key'=3", { B: "2", "odd key": "3" }],
    ["A=1\nA\n", {}],
    ["\ufeffA=1", { A: "1" }],
    ["a.b-c=1", { "a.b-c": "1" }],
  ];
  for (const [text, found] of cases) {
    it(JSON.stringify(text), () => assert.deepEqual(parseDotenv(text, env), found));
  }

  it("comes to an end with any text", () => {
    const piece = fc.constantFrom(
      "A",
      "=",
      "'",
      '"',
      "#",
      " ",
      "\n",
      "\r",
      "${A}",
      "\\",
      "export ",
      "${",
      "}",
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((parts) => parts.join("")),
        (text) => {
          for (const value of Object.values(parseDotenv(text, {}))) assert.equal(typeof value, "string");
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("keeps what is written in double quotes", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(!value.includes("${") && !value.includes("\\"));
        assert.deepEqual(parseDotenv(`A="${value.replaceAll('"', '\\"')}"\n`, {}), { A: value });
      }),
    );
  });
});

describe("readDotenv", () => {
  it("reads a file, and takes none for an empty one", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "bat-dotenv-"));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, ".env"), "A=1\n");
    assert.deepEqual(await readDotenv(join(folder, ".env"), {}), { A: "1" });
    assert.deepEqual(await readDotenv(join(folder, "none"), {}), {});
    // As python-dotenv does: a virtual environment may have that name.
    assert.deepEqual(await readDotenv(folder, {}), {});
  });
});

describe("agentEnvironment", () => {
  const model = { provider: "openai", model: "m-1", baseUrl: null, env: {} };

  it("puts together .env, shell, model and start, the later winning", () => {
    const env = agentEnvironment({
      dotenv: { A: "dotenv", B: "dotenv", KEY: "k", MODEL: "dotenv", BASE_URL: "dotenv" },
      shell: { B: "shell", BASE_URL: "shell", GONE: undefined },
      model: { ...model, env: { C: "${B}-$KEY-$NONE", A: "model" } },
      start: { CONFIG_PATH: "desk/config.yaml" },
    });
    assert.deepEqual(env, {
      A: "model",
      B: "shell",
      C: "shell-k-$NONE",
      KEY: "k",
      MODEL: "m-1",
      MODEL_PROVIDER: "openai",
      PYTHONUNBUFFERED: "1",
      CONFIG_PATH: "desk/config.yaml",
    });
  });

  it("gives BASE_URL only for a model that has one", () => {
    const parts = { dotenv: {}, shell: { BASE_URL: "inherited", HOST: "h" }, start: {} };
    assert.equal("BASE_URL" in agentEnvironment({ ...parts, model }), false);
    const own = agentEnvironment({ ...parts, model: { ...model, baseUrl: "http://$HOST/v1" } });
    assert.equal(own.BASE_URL, "http://h/v1");
  });
});
