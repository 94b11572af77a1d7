import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { carriersOf, specOf, until, watchdogsOf } from "../../fixtures/agents/harness.ts";
import { type AgentSpec, startAgent } from "./agent.ts";
import { identityOf, isAlive } from "./identity.ts";
import { isListening } from "./port.ts";

const STARTER = fileURLToPath(new URL("../../fixtures/agents/starter.ts", import.meta.url));

function startStarter(t: TestContext, spec: AgentSpec) {
  const starter = spawn(process.execPath, ["--no-warnings", STARTER, JSON.stringify(spec)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => starter.kill("SIGKILL"));
  return starter;
}

describe("kill -9 of bat", () => {
  for (const words of [[], ["ignore-term"], ["child-own-session", "ignore-term"]]) {
    it(`ends the agent within the shutdown timeout: ${words.join(", ") || "plain"}`, async (t) => {
      const spec = await specOf(t, words);
      const bat = startStarter(t, spec);
      await once(bat.stdout, "data");
      bat.kill("SIGKILL");
      const limit = spec.shutdownTimeoutMs + 2_000;
      await until(() => carriersOf(spec.token).length === 0, limit, "the end of the agent");
      await until(() => watchdogsOf(spec.token).length === 0, 1_000, "the end of the watchdog");
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
      await until(() => watchdogsOf(spec.token).length === 0, 3_000, "the end of the watchdog");
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
    await until(() => watchdogsOf(spec.token).length === 1, 3_000, "the end of the old watchdog");
    assert.equal(await isAlive(agent.identity), true);
  });
});
