import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";
import { agentFolder, classStem, clientNames, folderName, projectName, wordsOf } from "./names.ts";
import { render } from "./render.ts";

async function blueprint(...agents: string[]): Promise<ProjectFolder> {
  const folder = new ProjectFolder({});
  await folder.bat(["init", "blueprint", "lab"]);
  for (const agent of agents)
    assert.equal((await folder.bat(["add", "agent", agent], { cwd: "lab" })).exit, 0);
  return folder;
}

test("words and derived names", () => {
  assert.deepEqual(wordsOf("RNGClient"), ["RNG", "Client"]);
  assert.deepEqual(wordsOf("iOSAgent aB2C V2x naïve"), [
    "i",
    "OS",
    "Agent",
    "a",
    "B2",
    "C",
    "V2x",
    "na",
    "ve",
  ]);
  const stems = ["agents", "agent", "HTTPServerAgent", "iOSAgent", "日本"].map(classStem);
  assert.deepEqual(stems, ["Agents", "Agent", "HTTPServer", "IOS", "Agent"]);
  const projects = ["netplanagent", "my_agent", "agent_agent", "naïve", "日本"].map(projectName);
  assert.deepEqual(projects, ["netplanagent", "my", "agent", "na-ve", "agent"]);
  assert.deepEqual(["ollama", "bat_adk"].map(projectName), ["ollama-agent", "bat-adk-agent"]);
  const of = (item: string) => clientNames(item, "NAMES").clients[0];
  assert.deepEqual(of("client"), { stem: "client_client", className: "Client" });
  assert.deepEqual(of("planner_agent"), { stem: "planner_agent_client", className: "PlannerClient" });
});

test("a name that cannot be says which could", () => {
  const none = new Set<string>();
  assert.throws(() => agentFolder("cluster-view", none), /take "cluster_view"/);
  assert.throws(() => agentFolder("eval", none), /take "eval_agent"/);
  assert.throws(
    () => agentFolder("deploy", new Set(["deploy"])),
    /target of the Makefile; take "deploy_agent"/,
  );
  assert.throws(() => folderName("a/b"), /--output-dir/);
  assert.throws(() => folderName("x".repeat(300)), /too long/);
});

test("a value is data: what looks like a placeholder in it stays", () => {
  const texts = { A: '__B__ "x" \\', B: "b" };
  assert.equal(render('name = "__A__" # __B__', "x.toml", { texts }), 'name = "__B__ \\"x\\" \\\\" # b');
  assert.throws(() => render("name = __A__", "x.toml", { texts }), /without quotes/);
  assert.throws(() => render("__C__", "x.toml", { texts }), /unknown placeholder/);
});

test("--dry-run shows the difference and writes nothing", async () => {
  using folder = await blueprint("desk");
  const before = folder.files();
  const agent = await folder.bat(["add", "agent", "two", "--dry-run"], { cwd: "lab" });
  assert.match(agent.stdout, /^\+ {2}two:$/m);
  assert.match(agent.stderr, /Would write 9 files/);
  for (const words of [
    ["init", "agent", "x", "--dry-run"],
    ["init", "blueprint", "x", "--dry-run"],
  ])
    assert.equal((await folder.bat(words)).exit, 0);
  const client = await folder.bat(["add", "client", "planner", "--dry-run"], { cwd: "lab/desk" });
  assert.match(client.stdout, /\+from \.planner_client import PlannerClient/);
  assert.deepEqual(folder.files(), before);
});

test("--force keeps keys, services, ports and the other agents", async () => {
  using folder = await blueprint("desk", "two");
  folder.write("lab/.env", "OPENAI_API_KEY=secret\n");
  folder.write("lab/docker-compose.yaml", `# mine\n${folder.read("lab/docker-compose.yaml")}`);
  await folder.bat(["set", "config", "desk", "--port", "9950"], { cwd: "lab" });
  const two = folder.read("lab/two/config.yaml");
  const services = folder.read("lab/docker-compose.yaml");
  assert.equal((await folder.bat(["init", "blueprint", "lab", "--force"])).exit, 0);
  assert.equal(folder.read("lab/.env"), "OPENAI_API_KEY=secret\n");
  assert.equal(folder.read("lab/docker-compose.yaml"), services);
  assert.equal((await folder.bat(["add", "agent", "desk", "--force"], { cwd: "lab" })).exit, 0);
  assert.match(folder.read("lab/desk/config.yaml"), /port: 9950/);
  assert.match(folder.read("lab/docker-compose.yaml"), /^# mine\n.*localhost:9950\/ping/s);
  assert.equal(folder.read("lab/two/config.yaml"), two);
});

test("a broken file of another agent is a warning, a taken port too", async () => {
  using folder = await blueprint("desk");
  folder.write("lab/odd/config.yaml", "a: [\n");
  folder.write("lab/odd/agent.json", "{}\n");
  const { exit, stderr } = await folder.bat(["add", "agent", "two", "--port", "9900"], { cwd: "lab" });
  assert.equal(exit, 0);
  assert.match(stderr, /Cannot tell the port in odd\/config\.yaml/);
  assert.match(stderr, /two and desk both have port 9900/);
});

test("a dispatcher and a provider that do not fit the agent are warned of", async () => {
  using folder = await blueprint();
  folder.write("lab/__main__.py", "import desk\ndesk.run()\n");
  const words = ["add", "agent", "two", "--model-provider", "ollama"];
  const { stderr } = await folder.bat(words, { cwd: "lab" });
  assert.match(stderr, /__main__\.py names its agents itself: add "two"/);
  assert.match(stderr, /without the extra "ollama": run `uv add/);
});

test("a client template of the project's own, and one that nobody knows", async () => {
  using folder = new ProjectFolder({});
  await folder.bat(["init", "agent", "x"]);
  const plugin = `export default { apiVersion: 1, title: "Own", template: "own.py", requires: ["rich"], values: () => ({ WORD: "__CLIENT__" }) };\n`;
  folder.write("x/eval/plugins/clients/own.ts", plugin);
  folder.write("x/eval/plugins/clients/own.py", 'class __CLIENT__:\n    word = "__WORD__"\n');
  const { exit, stderr } = await folder.bat(["add", "client", "a", "--template", "own"], { cwd: "x" });
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /uv add "rich"/);
  assert.equal(folder.read("x/src/llm_clients/a_client.py"), 'class AClient:\n    word = "__CLIENT__"\n');
  const unknown = await folder.bat(["add", "client", "b", "--template", "onw"], { cwd: "x" });
  assert.equal(unknown.exit, 2);
  assert.match(unknown.stderr, /must be one of chat, own, structured, got "onw", did you mean "own"\?/);
});

test("clients that are there stay, with a warning", async () => {
  using folder = new ProjectFolder({});
  await folder.bat(["init", "agent", "x"]);
  folder.write("x/src/llm_clients/example_client.py", "class ExampleClient:\n    mine = 1\n");
  const { exit, stderr } = await folder.bat(["add", "client", "example"], { cwd: "x" });
  assert.equal(exit, 0);
  assert.match(stderr, /example_client\.py is there already and stays/);
  assert.match(folder.read("x/src/llm_clients/example_client.py"), /mine/);
});

test("a file in the way of one file stops all of them", async () => {
  using folder = new ProjectFolder({ "x/src": "a file\n" });
  const before = folder.files();
  const { exit, stderr } = await folder.bat(["init", "agent", "x", "--force"]);
  assert.equal(exit, 2);
  assert.match(stderr, /src/);
  assert.deepEqual(folder.files(), before);
});

test("a link that leads nowhere is no place for a project", async () => {
  using folder = new ProjectFolder({});
  symlinkSync("gone", join(folder.dir, "x"));
  const { exit } = await folder.bat(["init", "agent", "x"]);
  assert.equal(exit, 2);
  assert.deepEqual(folder.files(), {});
});

test("services are added to a compose file in every style, and nothing else of it changes", async () => {
  using folder = await blueprint();
  const text =
    "# head\r\nname: lab\r\nservices: {db: {image: 'postgres:16', ports: [\"5432:5432\"]}}  # one line\r\n";
  folder.write("lab/docker-compose.yaml", text);
  assert.equal((await folder.bat(["add", "agent", "desk"], { cwd: "lab" })).exit, 0);
  const after = folder.read("lab/docker-compose.yaml");
  assert.match(after, /^# head\r\nname: lab\r\n/);
  assert.ok(!/[^\r]\n/.test(after), "line ends stay");
  const { services } = parse(after) as { services: Record<string, { image: string }> };
  assert.deepEqual(Object.keys(services), ["db", "desk"]);
  assert.equal(services.db?.image, "postgres:16");
});

test("an agent in TypeScript joins a blueprint: on a port past the others, with a service of its own", async () => {
  using folder = await blueprint("desk");
  const add = (...words: string[]) => folder.bat(["add", "agent", ...words], { cwd: "lab" });
  const { exit, stdout, stderr } = await add("clerk", "--runtime", "node");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /Next: cd clerk && npm install && npm start/);
  assert.match(folder.read("lab/clerk/src/settings.ts"), /process\.env\.PORT \?\? 9901/);
  const { services } = parse(folder.read("lab/docker-compose.yaml")) as { services: Record<string, object> };
  assert.deepEqual(Object.keys(services), ["desk", "clerk"]);
  assert.deepEqual(services.clerk, {
    image: "${CLERK_IMAGE:-clerk:dev}",
    build: { context: "./clerk" },
    environment: { PORT: "9901" },
    env_file: ["./clerk/.env"],
    network_mode: "host",
    restart: "unless-stopped",
  });
  assert.equal((await add("third")).exit, 0);
  assert.match(folder.read("lab/third/config.yaml"), /port: 9902/);
  const before = folder.files();
  for (const words of [
    ["clerk", "--runtime", "node"],
    ["four", "--runtime", "node", "--clients", "x"],
    ["os", "--runtime", "node"],
  ]) {
    assert.equal((await add(...words)).exit, 2, words.join(" "));
    assert.deepEqual(folder.files(), before);
  }
  // What is in Python goes on as if it were alone.
  const made = await folder.bat(["manifests", "aifabric"], { cwd: "lab" });
  assert.match(made.stdout, /added: desk, third/);
});

test("a compose file that was edited by hand keeps every line, whatever its comments, order and line ends", async () => {
  using made = await blueprint("desk", "net");
  const lines = made.read("lab/docker-compose.yaml").trimEnd().split("\n");
  const own = [
    "x-shared: &shared {cap_drop: [ALL]}   # ours",
    "volumes: {data: {}}",
    `# ${"ünïcödé 🎉 ".repeat(30)}`,
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(lines.length - 1), { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      fc.subarray(own),
      fc.boolean(),
      async (places, end, extra, first) => {
        const noted = lines.map((line, i) => (places.includes(i) ? `${line}   # note ${i}` : line));
        const given = `${(first ? [...extra, ...noted] : [...noted, ...extra]).join(end)}${end}`;
        using folder = await blueprint("desk", "net");
        folder.write("lab/docker-compose.yaml", given);
        const { exit, stderr } = await folder.bat(["add", "agent", "more"], { cwd: "lab" });
        assert.equal(exit, 0, stderr);
        const text = folder.read("lab/docker-compose.yaml");
        const kept = text.split(end);
        for (const line of given.split(end)) assert.ok(kept.includes(line), `${line}\n${text}`);
        assert.ok(end === "\n" || !/[^\r]\n/.test(text));
        const { services } = parse(text, { merge: true }) as { services: object };
        assert.deepEqual(Object.keys(services), ["desk", "net", "more"]);
      },
    ),
    { numRuns: 20 },
  );
});
