import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { carriersOf, logOf, specOf, stranger, until } from "../../fixtures/agents/harness.ts";
import { type AgentSpec, startAgent } from "./agent.ts";
import { reapLeftovers } from "./family.ts";
import { identityOf, isAlive } from "./identity.ts";
import { isListening } from "./port.ts";

const STARTER = fileURLToPath(new URL("../../fixtures/agents/starter.ts", import.meta.url));
const linux = process.platform === "linux";

function startStarter(t: TestContext, spec: AgentSpec) {
  const starter = spawn(process.execPath, ["--no-warnings", STARTER, JSON.stringify(spec)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => starter.kill("SIGKILL"));
  return starter;
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

describe("ending an agent", () => {
  it("lets an agent that needs a moment end by itself", async (t) => {
    const agent = await startAgent(await specOf(t, ["slow-term"], { shutdownTimeoutMs: 5_000 }));
    const exit = await agent.stop();
    assert.deepEqual([exit.code, exit.signal], [0, null]);
  });

  it("kills one that will not go, having asked once", async (t) => {
    const spec = await specOf(t, ["ignore-term"]);
    const agent = await startAgent(spec);
    const before = performance.now();
    assert.equal((await agent.stop()).signal, "SIGKILL");
    const took = performance.now() - before;
    assert.ok(took >= spec.shutdownTimeoutMs && took < spec.shutdownTimeoutMs + 1_500, `${took} ms`);
    assert.equal(logOf(spec).match(/not now/g)?.length, 1);
  });

  it("ends a child that left group and session and keeps the port", async (t) => {
    const spec = await specOf(t, ["child-own-session", "ignore-term"]);
    const agent = await startAgent(spec);
    assert.equal(carriersOf(spec.token).length, 2);
    await agent.stop();
    assert.equal(await isListening(spec.url), false);
  });

  it("ends what an agent leaves behind when it dies", async (t) => {
    const spec = await specOf(t, ["child-own-session", "ignore-term"]);
    const agent = await startAgent(spec);
    process.kill(agent.pid, "SIGKILL");
    assert.equal((await agent.exited).signal, "SIGKILL");
    await agent.stop();
    assert.deepEqual(carriersOf(spec.token), []);
  });

  it("leaves the processes of another run and of another start alone", async (t) => {
    const [one, other] = [await specOf(t), await specOf(t)];
    await using mine = await startAgent(one);
    await using theirs = await startAgent({ ...other, token: one.token });
    await using another = await startAgent({ ...(await specOf(t)) });
    await mine.stop();
    assert.deepEqual([await isAlive(theirs.identity), await isAlive(another.identity)], [true, true]);
    assert.equal(await reapLeftovers(one.token), 1);
    assert.deepEqual([await isAlive(theirs.identity), await isAlive(another.identity)], [false, true]);
  });

  it("ends the agent also when its watchdog is killed", {
    skip: linux ? false : "reads /proc",
  }, async (t) => {
    const agent = await startAgent(await specOf(t, ["child-own-session"]));
    process.kill(parentOf(agent.pid), "SIGKILL");
    assert.match((await agent.exited).message, /^The agent "desk" ended/);
    await agent.stop();
  });

  it("does not let a terminal's Ctrl-C or the group's end reach the watchdog", async (t) => {
    const agent = await startAgent(await specOf(t, ["ignore-term"]));
    process.kill(-agent.pid, "SIGINT");
    assert.equal((await agent.exited).signal, "SIGINT");
    await agent.stop();
  });
});

describe("kill -9 of bat", () => {
  for (const words of [[], ["ignore-term"], ["child-own-session", "ignore-term"]]) {
    it(`ends the agent within the shutdown timeout: ${words.join(", ") || "plain"}`, async (t) => {
      const spec = await specOf(t, words);
      const bat = startStarter(t, spec);
      await once(bat.stdout, "data");
      bat.kill("SIGKILL");
      await until(
        () => carriersOf(spec.token).length === 0,
        spec.shutdownTimeoutMs + 2_000,
        "the end of all",
      );
    });
  }

  it("leaves nothing at whatever instant of the start it comes", async (t) => {
    const spec = await specOf(t, ["ignore-term"], { shutdownTimeoutMs: 50 });
    for (let delay = 40; delay <= 320; delay += 40) {
      const bat = startStarter(t, spec);
      const exited = once(bat, "exit");
      // The instant is what is tried here; nothing is waited for.
      setTimeout(() => bat.kill("SIGKILL"), delay);
      await exited;
      // A watchdog that was just being started carries no token yet: it is seen by what it does next, if anything.
      await until(() => watchdogsOf(bat.pid ?? 0).length === 0, 3_000, "the end of the watchdog");
      assert.deepEqual(carriersOf(spec.token), []);
      await until(async () => !(await isListening(spec.url)), 1_000, "the port's release");
    }
  });

  it("is made good by the next start of the same run, which waits for what still dies", async (t) => {
    const spec = await specOf(t, ["ignore-term"], { shutdownTimeoutMs: 700 });
    const bat = startStarter(t, spec);
    const [pid] = (await once(bat.stdout, "data")) as [Buffer];
    const old = await identityOf(Number(pid));
    bat.kill("SIGKILL");
    await using agent = await startAgent(spec);
    assert.equal(await isAlive(old), false);
    // The old watchdog must not take the new agent for its own.
    await until(() => watchdogsOf(bat.pid ?? 0).length === 0, 3_000, "the end of the old watchdog");
    assert.equal(await isAlive(agent.identity), true);
  });
});

/** Watchdogs that are still there though their `bat` is gone: they belong to init or a reaper, so look at all. */
function watchdogsOf(bat: number): number[] {
  return watchdogs.alive(bat);
}

describe("a port that is taken", () => {
  for (const host of ["127.0.0.1", "0.0.0.0", "::1"]) {
    it(`is told before the start, and its holder is left alone: ${host}`, async (t) => {
      const spec = await specOf(t);
      const { server, port } = await stranger(t, host);
      const url = `http://localhost:${port}`;
      await assert.rejects(startAgent({ ...spec, url }), (error: Error) => {
        assert.match(error.message, /is already taken by .*bat does not talk to what it did not start/);
        if (linux) assert.ok(error.message.includes(`process ${process.pid} (`), error.message);
        return true;
      });
      assert.equal(server.listening, true);
    });
  }

  it("by a stranger during the start is told, for a stranger answers cards too", {
    skip: linux ? false : "reads /proc",
  }, async (t) => {
    // The agent never opens its port: only the stranger answers.
    const spec = await specOf(t, [], { command: [process.execPath, "-e", "setInterval(() => {}, 1e9)"] });
    const starting = startAgent(spec);
    starting.catch(() => {});
    await until(() => carriersOf(spec.token).length > 0, 5_000, "the start");
    const { server } = await stranger(t, "127.0.0.1", Number(new URL(spec.url).port));
    await assert.rejects(starting, (error: Error) => {
      assert.ok(error.message.includes(`process ${process.pid} (`), error.message);
      assert.match(error.message, /while it started/);
      return true;
    });
    assert.equal(server.listening, true);
  });
});
