import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ProjectFolder } from "../../test/_project.ts";
import { readScaffolded } from "../../test/_scaffold.ts";

const GOLDEN = fileURLToPath(new URL("../../fixtures/golden/scaffold/", import.meta.url));

interface Step {
  cwd: string;
  command: string[];
  exit: number;
  /** Files whose bytes are new or changed. */
  files: string[];
  parsed: Record<string, unknown>;
}

interface Recorded {
  /** Null stands for a folder. */
  given: Record<string, string | null>;
  given_is_written?: string;
  before: Pick<Step, "cwd" | "command">[];
  links: Record<string, string>;
  removed: string[];
  steps: Step[];
  reference_is_wrong?: string;
}

type Raw = Record<string, unknown>;

function recordedCases(): Record<string, Recorded> {
  const cases: Record<string, Recorded> = {};
  const all = JSON.parse(readFileSync(join(GOLDEN, "cases.json"), "utf8")) as Record<string, Raw>;
  for (const [name, raw] of Object.entries(all)) {
    const steps = (raw.steps as (Step & { written: string[] })[]).map((step) => ({
      ...step,
      files: step.written,
    }));
    cases[name] = { ...(raw as unknown as Recorded), before: [], links: {}, removed: [], steps };
  }
  for (const file of readdirSync(join(GOLDEN, "cases"))) {
    const raw = JSON.parse(readFileSync(join(GOLDEN, "cases", file), "utf8")) as Raw & Step;
    cases[file.replace(/\.json$/, "")] = {
      ...(raw as unknown as Recorded),
      before: (raw.before as Step[] | undefined) ?? [],
      links: (raw.links as Record<string, string> | undefined) ?? {},
      removed: (raw.removed_before as string[] | undefined) ?? [],
      steps: [raw],
    };
  }
  return cases;
}

/** Refused here: where the reference is wrong, and for what spec and DIFFERENCES.md say. */
const REFUSED = new Set([
  "add-agent-compose-broken",
  "add-agent-compose-list",
  "add-agent-compose-services-list",
  "add-agent-compose-tab",
  "add-agent-compose-two-documents",
  "add-agent-folder-own-project",
  "add-agent-name-a2a",
  "add-agent-name-accent",
  "add-agent-name-cjk",
  "add-agent-name-clean",
  "add-agent-name-json",
  "add-agent-name-tests",
  "add-agent-name-too-long",
  "add-agent-port-0",
  "add-agent-port-70000",
  "add-client-9a",
  "add-client-agent-word",
  "add-client-no-letters",
  "add-client-not-utf8",
  "add-compose-broken",
  "add-name-eval4",
  "add-name-src3",
  "add-name-tests5",
  "add-name-é1",
  "agent-clients-9a2",
  "agent-clients-é1",
  "agent-port--1",
  "agent-port-0",
  "agent-port-70000",
  "agent-provider-unknown",
  "init-agent-clients-9a",
  "init-agent-clients-accent",
  "init-agent-clients-agent",
  "init-agent-clients-planner-planner-agent",
  "init-agent-effort-empty",
  "init-agent-name-doublequote",
  "init-agent-name-hidden",
  "init-agent-name-make-code",
  "init-agent-name-newline",
  "init-agent-name-too-long",
  "init-agent-port-0",
  "init-agent-port-70000",
  "init-agent-port-9_901",
  "init-agent-port-arabic",
  "init-agent-port-minus-1",
  "init-agent-provider-empty",
  "init-agent-provider-unknown",
  "init-agent-repeated-flag",
  "init-blueprint-inside-two-deep",
  "init-blueprint-name-doublequote",
]);

type Files = Record<string, Raw | null>;

const model = (name: string, folder = "x"): Files => ({
  [`${folder}/config.yaml`]: {
    endpoint: { url: "http://localhost", port: 9900 },
    model: { provider: "openai", name },
    checkpoints: false,
    telemetry: { output: [] },
  },
});
const image = (repo: string, folder: string): Files => ({ [`${folder}/Makefile`]: { REPO: repo } });
const exported = (stem: string, name: string): Files => ({
  "x/src/llm_clients/__init__.py": {
    imports: { ".example_client": ["ExampleClient"], ".n_client": ["NClient"], [`.${stem}`]: [name] },
  },
});
const portOfTwo = (port: number): Files => ({
  "lab/two/config.yaml": { endpoint: { url: "http://localhost", port } },
  "lab/docker-compose.yaml": {},
});
/** Of a name whose class names the reference makes no Python of. */
const named = (stem: string, folder: string): Files => {
  const classes = [`${stem}AgentGraph`, `${stem}AgentState`];
  const valid = { valid_python: true };
  return {
    [`${folder}/__main__.py`]: {
      ...valid,
      imports: { "bat.agent": ["AgentApplication"], "src.graph": classes },
      telemetry_privacy_floor: ["'none'"],
    },
    [`${folder}/src/__init__.py`]: { ...valid, imports: { ".graph": classes } },
    [`${folder}/src/graph.py`]: {
      ...valid,
      classes: { [classes[1]!]: ["AgentState"], [classes[0]!]: ["AgentGraph"] },
    },
  };
};
const blueprint = (name: string, folder: string): Files => ({
  [`${folder}/docker-compose.yaml`]: { name },
  [`${folder}/Dockerfile`]: { entrypoint: [`["${name}"]`] },
  [`${folder}/Makefile`]: { REPO: name },
  [`${folder}/${folder}.spec`]: { name },
  [`${folder}/pyproject.toml`]: {
    project: {
      name,
      version: "1.0.0",
      description: `${folder.toUpperCase()} blueprint`,
      readme: "README.md",
      "requires-python": ">=3.12",
    },
  },
});

/** Files and values that are other here: by path, what of the recorded value is replaced; null for no such file. */
const OTHER: Record<string, Files> = {
  "add-agent-compose-anchors": { "lab/docker-compose.yaml": {} },
  "add-agent-compose-yml-name": { "lab/docker-compose.yaml": null, "lab/compose.yml": {} },
  "add-agent-folder-with-config-only-flags": {
    "lab/desk/config.yaml": { endpoint: { port: 9940 }, model: { name: "zz", reasoning_effort: "low" } },
    "lab/docker-compose.yaml": {},
  },
  "add-agent-port-65535-next": portOfTwo(9900),
  "add-agent-port-quoted": portOfTwo(9972),
  "add-agent-port-true": portOfTwo(9900),
  "add-client-class-in-text": exported("doc_client", "Real"),
  "add-client-no-parentheses": exported("plain_client", "Plain"),
  "add-client-two-classes": exported("multi_client", "MultiClient"),
  "agent-model-odd": model("1.0"),
  "agent-model-colon": model("llama3: 8b # x"),
  "agent-name-9lives6": named("Agent9lives", "9lives"),
  "blueprint-provider": blueprint("my-lab", "my lab"),
  "init-agent-model-odd-0": model("1.0"),
  "init-agent-model-odd-1": model("yes"),
  "init-agent-model-odd-10": model("{a}"),
  "init-agent-model-odd-11": model("a\nb: c"),
  "init-agent-model-odd-12": model("@x"),
  "init-agent-model-odd-13": model("- x"),
  "init-agent-model-odd-3": model("a: b"),
  "init-agent-model-odd-5": model("m # c"),
  "init-agent-model-odd-6": model(""),
  "init-agent-model-odd-9": model("__MODEL_PROVIDER__"),
  "init-agent-name-3com": named("Agent3com", "3com"),
  "init-agent-name-__PORT__": image("port", "__port__"),
  "init-agent-name-_t": image("t", "_t"),
  "init-agent-name-cjk": image("agent", "日本"),
  "init-agent-name-quote": image("it-s", "it's"),
  "init-agent-provider-uppercase": model("gpt-6-luna", "p1"),
  "init-agent-target-full-force": { "x/.env": null },
  "init-blueprint-name-My-Lab": blueprint("my-lab", "my lab"),
  "init-blueprint-name-cjk": blueprint("blueprint", "日本"),
};

/** Done here, where the reference fails. */
const DONE = new Set(["add-agent-other-config-endpoint-text"]);

describe("Recorded scaffolds", { concurrency: 4 }, () => {
  const count = { equal: 0, right: 0, different: 0 };
  const cases = Object.entries(recordedCases());
  for (const [name, recorded] of cases) {
    test(name, async () => {
      using folder = new ProjectFolder({});
      await prepare(folder, recorded, name);
      for (const [i, step] of recorded.steps.entries()) {
        const last = i === recorded.steps.length - 1;
        if (!(step.cwd in recorded.links)) mkdirSync(join(folder.dir, step.cwd), { recursive: true });
        const before = filesOf(folder, recorded);
        const ran = await folder.bat(step.command.slice(1), { cwd: step.cwd });
        const after = filesOf(folder, recorded);
        assert.doesNotMatch(ran.stderr, /Internal error|defect|^ {4}at /m);
        if ((last && REFUSED.has(name)) || (step.exit !== 0 && !DONE.has(name))) {
          assert.notEqual(ran.exit, 0, ran.stdout);
          assert.deepEqual(after, before, "a refusal writes nothing");
          continue;
        }
        assert.equal(ran.exit, 0, ran.stderr);
        if (DONE.has(name)) continue;
        assertComments(folder, recorded);
        assertFiles(folder, step, before, after, OTHER[name] ?? {});
      }
      const other = REFUSED.has(name) || name in OTHER;
      if (recorded.reference_is_wrong !== undefined) count.right += 1;
      else if (other) count.different += 1;
      else count.equal += 1;
    });
  }
  after(() => {
    const { equal, right, different } = count;
    console.log(
      `${equal} equal, ${right} right where the reference is wrong, ${different} different on purpose`,
    );
    assert.equal(equal + right + different, cases.length);
  });
});

async function prepare(folder: ProjectFolder, recorded: Recorded, name: string): Promise<void> {
  const write = () => {
    for (const [path, text] of Object.entries(recorded.given)) {
      if (text === null) mkdirSync(join(folder.dir, path), { recursive: true });
      else folder.write(path, text, /not-utf8/.test(name) ? "latin1" : "utf8");
    }
  };
  if (recorded.given_is_written === undefined) write();
  for (const { cwd, command } of recorded.before) {
    const { exit, stderr } = await folder.bat(command.slice(1), { cwd });
    assert.equal(exit, 0, stderr);
  }
  if (recorded.given_is_written !== undefined) write();
  for (const path of recorded.removed) rmSync(join(folder.dir, path));
  for (const [path, target] of Object.entries(recorded.links)) symlinkSync(target, join(folder.dir, path));
}

/** All files by their own path, not by that of a link. */
function filesOf(folder: ProjectFolder, { links }: Recorded): Record<string, string> {
  const all = Object.entries(folder.files());
  return Object.fromEntries(all.filter(([path]) => !(path.split("/")[0]! in links)));
}

/** Comments and anchors of a compose file that was there stay, each on its line. */
function assertComments(folder: ProjectFolder, { given }: Recorded): void {
  for (const [path, text] of Object.entries(given)) {
    if (text === null || !/compose\.ya?ml$/.test(path)) continue;
    const now = folder.read(path).split("\n");
    for (const line of text.split("\n").filter((found) => /[#&]/.test(found)))
      assert.ok(now.includes(line), `${path} keeps "${line}"`);
  }
}

function assertFiles(
  folder: ProjectFolder,
  step: Step,
  before: Record<string, string>,
  after: Record<string, string>,
  other: Record<string, Raw | null>,
): void {
  for (const path of Object.keys(before)) assert.ok(path in after, `${path} stays`);
  const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
  // A fresh agent here has a test that runs without a key.
  const ours = changed.filter((path) => !path.endsWith("tests/test_agent.py"));
  const wanted = [...step.files, ...Object.keys(other)].filter((path) => other[path] !== null);
  assert.deepEqual(ours.sort(), [...new Set(wanted)].sort());
  for (const [path, recorded] of Object.entries(step.parsed)) {
    if (other[path] === null) continue;
    const said = readScaffolded(path, folder.read(path));
    // A compose file that is given is compared where it has to be equal; elsewhere its services say enough.
    if (other[path] !== undefined && Object.keys(other[path]).length === 0) continue;
    const right = merged(recorded as Raw, other[path] ?? {});
    assertSaid(path, said, typeof recorded === "string" ? recorded : right);
  }
}

/** A project's dependencies and groups stay as recorded. */
function merged(recorded: Raw, other: Raw): Raw {
  if ("checkpoints" in other) return other;
  const { project, ...rest } = other;
  const all = { ...recorded, ...rest };
  return project === undefined
    ? all
    : { ...all, project: { ...(recorded.project as Raw), ...(project as Raw) } };
}

/** Only what was recorded is compared: names of imports have no order, and our cards say what an agent can do. */
function assertSaid(path: string, said: unknown, wanted: unknown): void {
  if (/\.py$|\.spec$|Dockerfile$|Makefile$/.test(path)) {
    for (const [key, value] of Object.entries(wanted as Raw)) {
      const sorted =
        key === "imports"
          ? Object.fromEntries(
              Object.entries(value as Record<string, string[]>).map(([k, v]) => [k, [...v].sort()]),
            )
          : value;
      assert.deepEqual((said as Raw)[key], sorted, `${path}: ${key}`);
    }
    return;
  }
  if (path.endsWith("agent.json")) {
    const { description, skills, ...card } = said as Raw;
    assert.ok(description !== "" && (skills as unknown[]).length > 0, "a card says what its agent can do");
    const { description: _d, skills: _s, ...recorded } = wanted as Raw;
    assert.deepEqual(card, recorded, path);
    return;
  }
  assert.deepEqual(said, wanted, path);
}
