import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { carriersOf, logOf, specOf, stranger, until } from "../../fixtures/agents/harness.ts";
import { startAgent } from "./agent.ts";
import { reapLeftovers } from "./family.ts";
import { isAlive } from "./identity.ts";
import { isListening } from "./port.ts";

const linux = process.platform === "linux";

function parentOf(pid: number): number {
  return Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
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
