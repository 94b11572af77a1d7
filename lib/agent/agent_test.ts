import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { carriersOf, logOf, specOf, until } from "../../fixtures/agents/harness.ts";
import { BatError } from "../errors.ts";
import { startAgent } from "./agent.ts";
import { isAlive } from "./identity.ts";
import { isListening } from "./port.ts";

/** Matches a BatError of code `agent` whose message fits all patterns. */
function agentError(...patterns: RegExp[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof BatError, String(error));
    assert.equal(error.code, "agent");
    for (const pattern of patterns) assert.match(error.message, pattern);
    return true;
  };
}

describe("startAgent", () => {
  it("gives an agent that answers, keeps its output, and ends it", async (t) => {
    const spec = await specOf(t);
    const agent = await startAgent(spec);
    const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as { pid: number };
    assert.equal(card.pid, agent.pid);
    assert.equal(agent.identity.pid, agent.pid);
    assert.equal(await isAlive(agent.identity), true);
    const exit = await agent.stop();
    assert.equal(exit.signal, "SIGTERM");
    assert.equal(exit.message, 'The agent "desk" was ended by SIGTERM; last line of its log: "listening"');
    assert.equal(await isAlive(agent.identity), false);
    assert.equal(await isListening(spec.url), false);
    assert.equal(logOf(spec), "listening\n");
  });

  it("can be stopped twice, and at once", async (t) => {
    const agent = await startAgent(await specOf(t));
    const [first, second] = await Promise.all([agent.stop(), agent.stop()]);
    assert.deepEqual(first, second);
    assert.deepEqual(await agent.stop(), first);
  });

  it("ends with the scope that holds it", async (t) => {
    const spec = await specOf(t);
    {
      await using agent = await startAgent(spec);
      assert.deepEqual(carriersOf(spec.token), [agent.pid]);
    }
    assert.deepEqual(carriersOf(spec.token), []);
  });

  it("takes the card's old path", async (t) => {
    await using agent = await startAgent(await specOf(t, ["old-path"]));
    assert.ok(agent.pid > 0);
  });

  it("asks the URL it is told to instead of the card", async (t) => {
    const spec = await specOf(t, ["no-json"]);
    await using agent = await startAgent({ ...spec, ready: `${spec.url}/health` });
    assert.ok(agent.pid > 0);
  });

  it("tells how an agent ended that never came up, and what it said last", async (t) => {
    const spec = await specOf(t, ["exit-at-once"]);
    const said = agentError(
      /^"desk" stopped before it was ready \(exit code 7\): RuntimeError: no key for the model\n/,
    );
    await assert.rejects(startAgent(spec), said);
  });

  it("does not take an earlier start's words for this one's", async (t) => {
    const spec = await specOf(t, ["exit-at-once"]);
    await assert.rejects(startAgent(spec), agentError(/no key/));
    const silent = { ...spec, command: [process.execPath, "-e", "process.exit(4)"] };
    await assert.rejects(startAgent(silent), agentError(/\(exit code 4\): it wrote nothing/));
  });

  for (const line of [
    "McpError: Connection closed by MCP server wiki",
    "Cannot fetch agent card from http://x",
  ]) {
    it(`says what to do about a peer that is not there: ${line}`, async (t) => {
      const script = `console.error(${JSON.stringify(line)}); process.exit(1)`;
      const spec = await specOf(t, [], { command: [process.execPath, "-e", script] });
      await assert.rejects(startAgent(spec), agentError(/`required: false`/));
    });
  }

  it("does not wait for longer than the timeout, and says by which key it is longer", async (t) => {
    const spec = await specOf(t, ["no-card"], { startupTimeoutMs: 300 });
    const said = agentError(
      /not ready within 0\.3 s \(evaluation\.agent_startup_timeout_s\)/,
      /HTTP 404|ECONNREFUSED/,
      /agent\.log$/,
    );
    await assert.rejects(startAgent(spec), said);
  });

  it("takes no page for a card", async (t) => {
    const spec = await specOf(t, ["no-json"], { startupTimeoutMs: 600 });
    await assert.rejects(startAgent(spec), agentError(/no JSON/));
  });

  it("names a program that is not there", async (t) => {
    const spec = await specOf(t, [], { command: ["no-such-program-of-ours", "run"] });
    await assert.rejects(startAgent(spec), agentError(/no program "no-such-program-of-ours"/));
  });

  it("names a folder that is not there", async (t) => {
    const spec = await specOf(t);
    await assert.rejects(
      startAgent({ ...spec, cwd: join(spec.cwd, "nowhere") }),
      agentError(/no folder ".*nowhere"/),
    );
  });

  it("gives the signal's reason and leaves nothing when it is aborted during the start", async (t) => {
    const gone = new AbortController();
    const spec = await specOf(t, ["no-card"], { signal: gone.signal });
    const starting = startAgent(spec);
    starting.catch(() => {});
    await until(() => carriersOf(spec.token).length > 0, 5_000, "the start");
    gone.abort(new BatError("interrupted", "Interrupted"));
    await assert.rejects(starting, { code: "interrupted" });
    assert.deepEqual(carriersOf(spec.token), []);
  });

  it("starts nothing when it is aborted before", async (t) => {
    const spec = await specOf(t, [], {
      signal: AbortSignal.abort(new BatError("interrupted", "Interrupted")),
    });
    await assert.rejects(startAgent(spec), { code: "interrupted" });
  });

  it("tells when an agent dies while it runs", async (t) => {
    const spec = await specOf(t, ["exit-on-request"]);
    const agent = await startAgent(spec);
    await fetch(`${spec.url}/exit`).catch(() => {});
    const exit = await agent.exited;
    assert.deepEqual(exit, {
      code: 3,
      signal: null,
      lastLogLine: "ValueError: asked to end",
      message: 'The agent "desk" ended with exit code 3; last line of its log: "ValueError: asked to end"',
    });
    assert.deepEqual(await agent.stop(), exit);
  });

  it("passes on environment and arguments as they are", async (t) => {
    const spec = await specOf(t);
    const [port] = spec.command.slice(2);
    const odd = 'a b "c" $HOME \\ ü\n';
    const script = `console.log(JSON.stringify([process.env.ODD, process.argv[1]])); process.exit(5)`;
    const command = [process.execPath, "-e", script, odd, port ?? ""];
    await assert.rejects(
      startAgent({ ...spec, command, env: { ...spec.env, ODD: odd } }),
      agentError(/exit code 5/),
    );
    assert.deepEqual(JSON.parse(logOf(spec)), [odd, odd]);
  });
});
