/**
 * `bat build` and `bat push` with a real container engine and a registry on loopback: what was pushed is pulled again
 * and run. Needs root on a Debian-like machine, or podman, runc and docker-registry on it, and a C compiler. Images
 * begin FROM scratch: the base images of a generated project's Dockerfile would have to be pulled from elsewhere.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../lib/agent/port.ts";
import { BAT } from "./_evaluation.ts";

const ENGINE = fileURLToPath(new URL("../tools/container-engine.sh", import.meta.url));
const HELLO = '#include <stdio.h>\nint main(void) { puts("hello from the image"); return 0; }\n';
const DOCKERFILE =
  'FROM scratch\nARG VERSION\nLABEL org.opencontainers.image.version=$VERSION\nCOPY hello /hello\nENTRYPOINT ["/hello"]\n';
/** As a generated project has it. */
const MAKEFILE = `# mine
DOCKER_REGISTRY ?=
REPO ?= hello
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
IMAGE = $(if $(DOCKER_REGISTRY),$(DOCKER_REGISTRY)/)$(REPO):$(or $(VERSION),dev)

.PHONY: build push
build:
	docker build --build-arg VERSION=$(VERSION) \\
	  --tag $(IMAGE) .

push: build
ifeq ($(DOCKER_REGISTRY),)
	$(error DOCKER_REGISTRY is not set)
endif
	docker push $(IMAGE)
`;

const folder = mkdtempSync(join(tmpdir(), "bat-containers-"));
const engine = join(folder, "engine");
let registry: string;

before(
  async () => {
    const port = await freePort();
    registry = `localhost:${port}`;
    const up = spawnSync("bash", [ENGINE, "up", engine, String(port)], { encoding: "utf8" });
    assert.equal(up.status, 0, `These tests need a container engine, which cannot be had: ${up.stderr}`);
    writeFileSync(join(folder, "hello.c"), HELLO);
    const made = spawnSync("gcc", ["-static", "-o", "hello", "hello.c"], { cwd: folder, encoding: "utf8" });
    const why = made.error?.message ?? made.stderr;
    assert.equal(made.status, 0, `These tests need a C compiler that links statically: ${why}`);
  },
  { timeout: 300_000 },
);

after(() => {
  spawnSync("bash", [ENGINE, "down", engine]);
  rmSync(folder, { recursive: true, force: true });
});

function run(program: string, words: readonly string[], cwd = folder) {
  const { DOCKER_REGISTRY: _r, REPO: _p, VERSION: _v, NODE_TEST_CONTEXT: _n, ...rest } = process.env;
  const env = { ...rest, PATH: `${join(engine, "bin")}${delimiter}${rest.PATH}` };
  return spawnSync(program, words, { cwd, env, encoding: "utf8", timeout: 120_000 });
}

function bat(cwd: string, ...words: string[]) {
  return run(process.execPath, [BAT, ...words], cwd);
}

function docker(...words: string[]): string {
  const ran = run("docker", words);
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout;
}

function project(name: string, files: Readonly<Record<string, string>>): string {
  const dir = join(folder, name);
  mkdirSync(dir);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(dir, file), text);
  writeFileSync(join(dir, "hello"), readFileSync(join(folder, "hello")), { mode: 0o755 });
  return dir;
}

/** Takes the image from the registry, not from what was built here, and runs it. */
async function assertRuns(repo: string, version: string): Promise<void> {
  const answer = await fetch(`http://${registry}/v2/${repo}/tags/list`);
  assert.deepEqual(((await answer.json()) as { tags: string[] }).tags, [version]);
  const image = `${registry}/${repo}:${version}`;
  docker("rmi", "--force", image);
  docker("pull", image);
  assert.equal(docker("run", "--rm", image), "hello from the image\n");
  const label = '{{index .Config.Labels "org.opencontainers.image.version"}}';
  assert.equal(docker("image", "inspect", "--format", label, image).trim(), version);
}

test("without a Makefile: built, pushed, pulled and run", { timeout: 300_000 }, async () => {
  const dir = project("plain", { Dockerfile: DOCKERFILE });
  const flags = ["--docker-registry", registry, "--repo", "team/plain", "--version", "1.0"];
  const built = bat(dir, "build", ...flags);
  assert.equal(built.status, 0, built.stderr);
  assert.match(built.stdout, new RegExp(`^Built ${registry}/team/plain:1\\.0$`, "m"));
  assert.match(built.stderr, /^\$ docker build --build-arg VERSION=1\.0 --tag \S+ \.$/m);
  const pushed = bat(dir, "push", ...flags);
  assert.equal(pushed.status, 0, pushed.stderr);
  assert.match(pushed.stdout, new RegExp(`^Pushed ${registry}/team/plain:1\\.0$`, "m"));
  await assertRuns("team/plain", "1.0");
});

test("with a Makefile, its registry set by bat: built, pushed, pulled and run", {
  timeout: 300_000,
}, async () => {
  const dir = project("made", { Dockerfile: DOCKERFILE, Makefile: MAKEFILE });
  const refused = bat(dir, "push");
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /Nothing was pushed: .*DOCKER_REGISTRY/);
  const set = bat(dir, "set", "image", "--docker-registry", registry, "--repo", "team/made");
  assert.equal(set.status, 0, set.stderr);
  const wanted = MAKEFILE.replace("?=\n", `?= ${registry}\n`).replace("?= hello", "?= team/made");
  assert.equal(readFileSync(join(dir, "Makefile"), "utf8"), wanted);
  for (const command of ["build", "push"]) {
    const ran = bat(dir, command, "--version", "2");
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, new RegExp(`${registry}/team/made:2$`, "m"));
  }
  await assertRuns("team/made", "2");
});

test("a base image out of reach: the engine says so, its exit code is ours", { timeout: 120_000 }, () => {
  const base = `${registry}/no/such-base:1`;
  const dir = project("based", { Dockerfile: `FROM ${base}\n` });
  const ran = bat(dir, "build");
  const own = run("docker", ["build", "--tag", "based:latest", "."], dir);
  assert.notEqual(own.status, 0);
  assert.equal(ran.status, own.status);
  assert.match(ran.stderr, /no\/such-base/);
  assert.match(ran.stderr, new RegExp(`failed with exit code ${own.status}$`, "m"));
  assert.doesNotMatch(ran.stdout, /Built/);
});
