import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";

const GOLDEN = fileURLToPath(new URL("../../fixtures/golden/settings/", import.meta.url));

interface Recorded {
  given: Record<string, string>;
  cwd: string;
  command: string[];
  exit: number;
  text?: Record<string, string>;
  parsed?: Record<string, unknown>;
  reference_is_wrong?: string;
  links?: Record<string, string>;
}

/** Steps that only `bat set` is needed for. */
function recordedCases(): Record<string, Recorded> {
  const all = JSON.parse(readFileSync(join(GOLDEN, "cases.json"), "utf8")) as Record<
    string,
    { given: Record<string, string>; reference_is_wrong?: string; steps: Omit<Recorded, "given">[] }
  >;
  const cases: Record<string, Recorded> = {};
  for (const [name, { given, steps, reference_is_wrong }] of Object.entries(all)) {
    if (steps.length > 1) continue;
    cases[name] = {
      ...steps[0]!,
      given,
      ...(reference_is_wrong === undefined ? {} : { reference_is_wrong }),
    };
  }
  for (const file of readdirSync(join(GOLDEN, "cases")))
    cases[file.replace(/\.json$/, "")] = JSON.parse(
      readFileSync(join(GOLDEN, "cases", file), "utf8"),
    ) as Recorded;
  return cases;
}

/** What is right where the reference is not, or where we differ: the text, or null for a refusal. */
const RIGHT: Record<string, string | null> = {
  flow: "model: {name: m, provider: openai}\n",
  anchor: "x: &m\n  name: a\nmodel:\n  <<: *m\n  name: m\n",
  "bad-port": null,
  multiline: "model:\n  name: m\n  provider: openai\n",
  broken: null,
  "provider-unknown": null,
  "image-dollar": null,
  "set-config-alias": "base: &b\n  name: m\nmodel:\n  <<: *b\n  name: n\n",
  "set-config-anchor-on-value": "model:\n  name: &n x\nother: m\n",
  "set-config-block-scalar": "model:\n  name: n\n  provider: p\n",
  "set-config-bom": "\ufeffmodel:\n  name: n\n",
  "set-config-broken": null,
  "set-config-comment-prose": "model:\n  provider: p\n  # name: the name of the model, see docs\n  name: n\n",
  "set-config-cr-in-the-middle": "model:\r\n  name: n\n  provider: p\r\n",
  "set-config-document-end-append": "x: 1\nmodel:\n  name: n\n...\n",
  "set-config-flow-many-lines": "model: {\n  provider: openai,\n  name: n,\n}\n",
  "set-config-flow-root": "{model: {name: n}}\n",
  "set-config-list-section": null,
  "set-config-multi-line-plain": "model:\n  name: n\n  provider: p\n",
  "set-config-multi-line-quoted": "model:\n  name: n\n",
  "set-config-nested-same-key": "model:\n  options:\n    name: inner\n  name: n\n",
  "set-config-not-utf8": null,
  "set-config-one-space": "model:\n provider: p\n name: n\n",
  "set-config-port-0": null,
  "set-config-provider-unknown": null,
  "set-config-quoted-key": 'model:\n  "name": n\n',
  "set-config-quoted-value": "model:\n  name: n # c\n",
  "set-config-scalar-section": null,
  "set-config-tabs": null,
  "set-config-two-sections": null,
  "set-config-url-has-port": "endpoint:\n  url: http://localhost:9901\n",
  "set-image-backslash": null,
  "set-image-capital": null,
  "set-image-continued": "REPO ?= z\n",
  "set-image-crlf":
    "DOCKER_REGISTRY ?=\r\n# mine\r\nREPO ?= y\r\nbuild:\r\n\tdocker build --tag $(REPO):1 .\r\n",
  "set-image-dollar": null,
  "set-image-gnumakefile":
    "DOCKER_REGISTRY ?=\n# mine\nREPO ?= y\nbuild:\n\tdocker build --tag $(REPO):1 .\n",
  "set-image-make-code": null,
  "image-crlf":
    "# vars\r\nDOCKER_REGISTRY ?=\r\n# repo\r\nREPO := a\r\nVERSION ?= 1\r\nX = $(REPO)\r\nbuild:\r\n\tdocker build -t $(DOCKER_REGISTRY)/$(REPO):$(VERSION) .\r\n",
};

/** Where a comment or blank stays that the reference drops, and a text stays a text: told in DIFFERENCES.md. */
const DIFFERENT: Record<string, string> = {
  "set-config-section-with-space": "model :\n  name : n\n",
  "image-both":
    "# vars\nDOCKER_REGISTRY ?= registry.example.com\n# repo\nREPO := team/x\nVERSION ?= 1\nX = $(REPO)\nbuild:\n\tdocker build -t $(DOCKER_REGISTRY)/$(REPO):$(VERSION) .\n",
  "set-image-only-repo": "DOCKER_REGISTRY ?=\n# mine\nREPO ?= a\nbuild:\n\tdocker build --tag $(REPO):1 .\n",
};

const TEXT_OF_VALUE = /^(?:set-config-value-\d+|number-like|bool-like)$/;

describe("Recorded settings", () => {
  let equal = 0;
  let right = 0;
  let different = 0;
  const cases = Object.entries(recordedCases());
  for (const [name, recorded] of cases) {
    test(name, async () => {
      using folder = project(name, recorded);
      const before = folder.files();
      const { exit, stdout, stderr } = await folder.bat(recorded.command.slice(1), { cwd: recorded.cwd });
      const after = folder.files();
      const refused = exit !== 0;
      if (refused) assert.deepEqual(after, before, "a refusal writes nothing");
      assert.doesNotMatch(stderr, /Internal error|defect/);
      const edited = Object.keys(after).find((path) => after[path] !== before[path]);
      const text = edited === undefined ? null : folder.read(edited);
      if (name in RIGHT) {
        assert.equal(refused ? null : text, RIGHT[name], stderr);
        right += 1;
      } else if (
        TEXT_OF_VALUE.test(name) &&
        (recorded.reference_is_wrong !== undefined || /-like$/.test(name))
      ) {
        assert.equal(
          (parse(text!, { version: "1.1" }) as { model: { name: unknown } }).model.name,
          recorded.command.at(-1),
        );
        if (recorded.reference_is_wrong === undefined) different += 1;
        else right += 1;
      } else if (name in DIFFERENT) {
        assert.equal(text, DIFFERENT[name]);
        different += 1;
      } else {
        assert.equal(refused, recorded.exit !== 0, stderr);
        for (const [path, wanted] of Object.entries(recorded.text ?? {}))
          assert.equal(folder.read(path), wanted);
        for (const [path, wanted] of Object.entries(recorded.parsed ?? {}))
          if (/\.yaml$/.test(path)) assert.deepEqual(parse(folder.read(path), { merge: true }), wanted);
        if (!refused) assert.match(stdout, /^Set .+ in .+$/m);
        equal += 1;
      }
      if (!refused) {
        const again = await folder.bat(recorded.command.slice(1), { cwd: recorded.cwd });
        assert.match(again.stdout, /^No changes/, "a second run changes nothing");
        assert.deepEqual(folder.files(), after);
      }
    });
  }
  test("how many are equal", (t) => {
    t.diagnostic(
      `${equal} equal, ${right} right where the reference is wrong, ${different} different on purpose`,
    );
    assert.equal(equal + right + different, cases.length);
  });
});

function project(name: string, { given, cwd }: Recorded): ProjectFolder {
  const folder = new ProjectFolder(given, /not-utf8/.test(name) ? "latin1" : "utf8");
  mkdirSync(join(folder.dir, cwd), { recursive: true });
  assert.equal(dirname(join(folder.dir, "x")), folder.dir);
  return folder;
}
