import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { parse, parseDocument } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";
import { agentNames, checkLabel, freeName, kubernetesName } from "./names.ts";

const MAKEFILE =
  "DOCKER_REGISTRY ?= r.example.com\nREPO ?= team/lab\nVERSION ?= 1.2.0\nbuild:\n\tdocker build --tag $(DOCKER_REGISTRY)/$(REPO):$(VERSION) .\n";
const MODEL = ["manifests", "composition-model", "--vendor", "acme"];
const FABRIC = ["manifests", "aifabric"];

function config(port: number, more = ""): string {
  return `endpoint:\n  url: http://localhost\n  port: ${port}\nmodel:\n  provider: openai\n  name: m1\n${more}`;
}

function blueprint(agents: Record<string, string>, more: Record<string, string> = {}): ProjectFolder {
  const files: Record<string, string> = {
    "lab/pyproject.toml": '[project]\nname = "lab"\nversion = "1"\n',
    "lab/__main__.py": "import importlib, sys\nimportlib.import_module(sys.argv[1]).run()\n",
    "lab/Makefile": MAKEFILE,
    ...more,
  };
  for (const [name, text] of Object.entries(agents)) {
    files[`lab/${name}/config.yaml`] = text;
    files[`lab/${name}/agent.json`] = JSON.stringify({ name });
  }
  return new ProjectFolder(files);
}

test("names are what Kubernetes takes, whatever a folder is called", () => {
  assert.deepEqual(["supervisor_v4", "NetOps", "naïve", "OpenAI m.1", "日本"].map(kubernetesName), [
    "supervisor-v4",
    "net-ops",
    "na-ve",
    "open-ai-m-1",
    "",
  ]);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
      const name = kubernetesName(text);
      if (name !== "") checkLabel(name, "--name");
    }),
  );
  const [one, two] = ["a".repeat(70), "a".repeat(71)];
  const names = agentNames([one, two]);
  assert.notEqual(names.get(one), names.get(two));
  for (const name of names.values()) checkLabel(name, "--name");
  const long = "x".repeat(63);
  assert.equal(
    freeName(long, (name) => name === long),
    `${"x".repeat(61)}-2`,
  );
  assert.throws(
    () => agentNames(["net_ops", "NetOps"]),
    /"net_ops" and "NetOps" have the same Kubernetes name/,
  );
});

test("names that Kubernetes refuses are refused before anything is written", async () => {
  using folder = blueprint({ desk: config(9900) });
  const before = folder.files();
  for (const value of ["Not_Valid!", "", "a.b", "-a", "a-", "x".repeat(64), "null\nkind: Other"]) {
    for (const words of [
      [...MODEL, "--name", value],
      [...FABRIC, "--namespace", value],
      [...FABRIC, "--image-pull-secret", value],
    ]) {
      const { exit, stderr } = await folder.bat(words, { cwd: "lab" });
      assert.equal(exit, 2, `${words.join(" ")}: ${stderr}`);
      assert.deepEqual(folder.files(), before);
    }
  }
});

test("texts that YAML would read as something else stay texts", async () => {
  for (const model of [
    "no",
    "1e3",
    "0x1F",
    "null",
    "1_000",
    "=",
    "2026-12-01",
    "a: b",
    "# x",
    "'",
    "~",
    "1.10",
  ]) {
    using folder = blueprint({ desk: config(9900).replace("m1", JSON.stringify(model)) });
    const { exit, stderr } = await folder.bat(FABRIC, { cwd: "lab" });
    assert.equal(exit, 0, `${model}: ${stderr}`);
    const text = folder.read("lab/aifabric.yaml");
    for (const version of ["1.1", "1.2"] as const) {
      const { spec } = parse(text, { version }) as { spec: { llms: { model: unknown }[] } };
      assert.equal(spec.llms[0]!.model, model, `${text} (${version})`);
    }
  }
});

test("a provider in other letters has its secret", async () => {
  using folder = blueprint({ desk: config(9900).replace("openai", "OpenAI") });
  await folder.bat(FABRIC, { cwd: "lab" });
  const { spec } = parse(folder.read("lab/aifabric.yaml")) as { spec: { llms: Record<string, unknown>[] } };
  assert.deepEqual(spec.llms[0], {
    name: "open-ai-m1",
    provider: "OpenAI",
    model: "m1",
    apiKeySecretRef: { name: "openai-api-key", key: "OPENAI_API_KEY" },
  });
});

test("an empty list of rules has a rule to copy below it, and the file says what it means", async () => {
  using folder = blueprint({ desk: config(9900) });
  const { stdout } = await folder.bat(MODEL, { cwd: "lab" });
  assert.equal(stdout, "Wrote composition-model.yaml\nadded: desk\n");
  const text = folder.read("lab/composition-model.yaml");
  assert.match(text, /\n {4}rules: \[\]\n( *#.*\n)* *# - apiGroups: \[''\]/);
});

const HAND = `# Head, kept.
apiVersion: orama.trirematics.io/v1   # api
kind: CompositionModel
metadata: {name: shop, namespace: "ns7"}
x-shared: &limits {limits: {memory: 1Gi}}
deploymentModes:

  # the front desk
  front:
    kind: agent
    vendor: acme
    imageTag: 'r.example.com/team/lab:1.0.0'   # old tag
    args: [desk, --verbose]
    resources: *limits
    version: 1.10
    folded: >-
      a text
      of two lines
spec:
  version: v2.0.0
`;

test("only the meant lines of a file that was written by hand differ, in whatever style it is", async () => {
  const styles: [string, (text: string) => string][] = [
    ["as it is", (text) => text],
    ["CRLF", (text) => text.replaceAll("\n", "\r\n")],
    ["BOM", (text) => `\ufeff${text}`],
    ["a document's marks", (text) => `%YAML 1.2\n---\n${text}...\n`],
    ["long lines and unicode", (text) => text.replace("# Head", `# ${"ünïcödé 🎉 ".repeat(40)}`)],
    [
      "other order",
      (text) =>
        text
          .replace("spec:\n  version: v2.0.0\n", "")
          .replace("deploymentModes", "spec: {version: v2.0.0}\ndeploymentModes"),
    ],
  ];
  for (const [style, change] of styles) {
    const given = change(HAND);
    using folder = blueprint(
      { desk: config(9900), net: config(9901) },
      { "lab/composition-model.yaml": given },
    );
    const { exit, stdout, stderr } = await folder.bat(MODEL, { cwd: "lab" });
    assert.equal(exit, 0, `${style}: ${stderr}`);
    assert.match(
      stdout,
      /front: imageTag r\.example\.com\/team\/lab:1\.0\.0 -> r\.example\.com\/team\/lab:1\.2\.0/,
    );
    const text = folder.read("lab/composition-model.yaml");
    const end = style === "CRLF" ? "\r\n" : "\n";
    assert.ok(style !== "CRLF" || !/[^\r]\n/.test(text), style);
    const kept = text.split(end);
    const lost = given.split(end).filter((line) => !kept.includes(line));
    assert.deepEqual(
      lost.filter((line) => !/^ {4}imageTag|^spec: \{version/.test(line)),
      [],
      style,
    );
    const { deploymentModes } = parseDocument(text, { merge: true }).toJS() as {
      deploymentModes: Record<string, { imageTag: string; resources?: unknown }>;
    };
    assert.deepEqual(Object.keys(deploymentModes), ["front", "net"], style);
    assert.deepEqual(deploymentModes.front!.resources, { limits: { memory: "1Gi" } });
    assert.equal((await folder.bat(MODEL, { cwd: "lab" })).stdout, "No changes\n", style);
  }
});

test("comments anywhere in a fabric stay, and a second run changes nothing", async () => {
  using made = blueprint({
    desk: config(9900, "remote-agents:\n  - {name: net, url: 'http://localhost:9901'}\n"),
    net: config(9901),
  });
  await made.bat(FABRIC, { cwd: "lab" });
  const lines = made.read("lab/aifabric.yaml").trimEnd().split("\n");
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(lines.length - 1), { maxLength: 6 }),
      fc.constantFrom("\n", "\r\n"),
      async (places, end) => {
        const given = `${lines.map((line, i) => (places.includes(i) ? `${line}   # note ${i}` : line)).join(end)}${end}`;
        using folder = blueprint(
          {
            desk: config(9900, "remote-agents:\n  - {name: net, url: 'http://localhost:9901'}\n"),
            net: config(9901),
            more: config(9902),
          },
          { "lab/aifabric.yaml": given },
        );
        const { exit, stdout, stderr } = await folder.bat(FABRIC, { cwd: "lab" });
        assert.equal(exit, 0, stderr);
        assert.match(stdout, /added: more/);
        const text = folder.read("lab/aifabric.yaml");
        for (const line of given.split(end)) assert.ok(text.split(end).includes(line), `${line}\n${text}`);
        assert.equal((await folder.bat(FABRIC, { cwd: "lab" })).stdout, "No changes\n");
      },
    ),
    { numRuns: 25 },
  );
});

test("a dry run shows the difference and writes nothing", async () => {
  using folder = blueprint({ desk: config(9900) }, { "lab/composition-model.yaml": HAND });
  const before = folder.files();
  const { exit, stdout, stderr } = await folder.bat([...MODEL, "--dry-run"], { cwd: "lab" });
  assert.equal(exit, 0, stderr);
  assert.match(
    stdout,
    /^- {4}imageTag: 'r\.example\.com\/team\/lab:1\.0\.0' +# old tag\n\+ {4}imageTag: r\.example\.com\/team\/lab:1\.2\.0 +# old tag/m,
  );
  assert.match(stderr, /Would update composition-model\.yaml/);
  assert.deepEqual(folder.files(), before);
});

test("a link in the way is followed to its file; a folder and a file that may not be written are told", async () => {
  using folder = blueprint({ desk: config(9900) });
  mkdirSync(join(folder.dir, "shared"));
  writeFileSync(join(folder.dir, "shared", "model.yaml"), HAND);
  symlinkSync("../shared/model.yaml", join(folder.dir, "lab", "composition-model.yaml"));
  assert.equal((await folder.bat(MODEL, { cwd: "lab" })).exit, 0);
  assert.match(readFileSync(join(folder.dir, "shared", "model.yaml"), "utf8"), /lab:1\.2\.0/);
  const { exit, stderr } = await folder.bat([...FABRIC, "-o", "none/fabric.yaml"], { cwd: "lab" });
  assert.deepEqual([exit, /There is no folder none for none\/fabric\.yaml/.test(stderr)], [2, true]);
  assert.equal((await folder.bat([...FABRIC, "-o", "desk"], { cwd: "lab" })).exit, 2);
  assert.ok(!existsSync(join(folder.dir, "lab", "aifabric.yaml")));
  chmodSync(join(folder.dir, "lab"), 0o755);
});
