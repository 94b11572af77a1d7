import { BatError } from "../errors.ts";
import { membersOf, reapLeftovers } from "./family.ts";
import { identityOf, type ProcessIdentity } from "./identity.ts";
import { type LaunchedAgent, launch } from "./launch.ts";
import { describeListener, listenerOf, strangerOn } from "./listener.ts";
import { lastLogLine } from "./log-tail.ts";
import { isListening, isLoopback, portOf } from "./port.ts";
import { pollUntilReady } from "./ready.ts";

export interface AgentSpec {
  /** For messages. */
  name: string;
  command: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Takes stdout and stderr, appended. */
  logFile: string;
  /** Where it will answer, no trailing slash. */
  url: string;
  /** Absolute URL that must answer 2xx before the agent counts as ready; by default its card. */
  ready?: string;
  startupTimeoutMs: number;
  shutdownTimeoutMs: number;
  /** Marks every process of the run. Random, so that no other process has it. */
  token: string;
  signal: AbortSignal;
}

/** How an agent's process ended. */
export interface AgentExit {
  code: number | null;
  signal: string | null;
  /** The last line it wrote that says anything. */
  lastLogLine: string | null;
  /** All of that in a sentence. */
  message: string;
}

/** An agent that was started and answers. Who starts it stops it: `await using`. */
export interface RunningAgent extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Resolves when the process that was started has ended, whoever ended it. */
  readonly exited: Promise<AgentExit>;
  /**
   * Ends it and everything it started; resolves when all of that is gone, and may be called again. Throws BatError (code
   * `agent`) when the system does not let a process go.
   */
  stop(): Promise<AgentExit>;
}

/** How long a port may take to be free after all that held it has ended. */
const PORT_RELEASE_MS = 1_000;

/**
 * Starts an agent and waits until it is ready. It ends with this process, however that ends.
 *
 * @throws BatError (code `agent`) when its port is taken, it cannot be started, ends, or is not ready in time; the
 * signal's reason when that is aborted. Nothing of it is left running then.
 */
export async function startAgent(spec: AgentSpec): Promise<RunningAgent> {
  spec.signal.throwIfAborted();
  await refuseTakenPort(spec);
  spec.signal.throwIfAborted();
  const agent = await launch(spec);
  try {
    const [identity] = await Promise.all([identityOf(agent.pid), untilReady(spec, agent)]);
    const { pid, exited, stop } = agent;
    const dispose = async () => void (await stop());
    return { url: spec.url, pid, identity, exited, stop, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

/** A port may still be held by what a killed `bat` left of this run: that is ours to end. A stranger's is left alone. */
async function refuseTakenPort({ name, url, token, shutdownTimeoutMs }: AgentSpec): Promise<void> {
  if (!(await isListening(url))) return;
  if ((await reapLeftovers(token, shutdownTimeoutMs)) > 0 && (await isReleased(url))) return;
  const holder = isLoopback(url) ? listenerOf(portOf(url)) : null;
  const by = holder === null ? "another process" : describeListener(holder);
  throw new BatError(
    "agent",
    `Cannot start "${name}": ${url} is already taken by ${by}, and bat does not talk to what it did not start; stop that or give the agent another port`,
  );
}

async function isReleased(url: string): Promise<boolean> {
  const deadline = performance.now() + PORT_RELEASE_MS;
  while (await isListening(url)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

async function untilReady(spec: AgentSpec, agent: LaunchedAgent): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), spec.startupTimeoutMs);
  let exit: AgentExit | null = null;
  agent.exited.then((how) => {
    exit = how;
    over.abort();
  });
  let seen = "no answer";
  const signal = AbortSignal.any([spec.signal, over.signal]);
  try {
    await pollUntilReady(spec, signal, (what) => {
      seen = what;
    });
    refuseStranger(spec, agent);
  } catch (error) {
    spec.signal.throwIfAborted();
    if (exit !== null) throw stoppedEarly(spec, exit);
    if (over.signal.aborted) throw await neverReady(spec, agent, seen);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Ready means ours: whoever took the port during the start answers cards too. */
function refuseStranger({ name, url }: AgentSpec, { pid, family }: LaunchedAgent): void {
  if (!isLoopback(url)) return;
  const stranger = strangerOn(portOf(url), pid, () => membersOf(family).map((member) => member.pid));
  if (stranger === null) return;
  throw new BatError(
    "agent",
    `Cannot start "${name}": ${describeListener(stranger)} took ${url} while it started, and bat does not talk to what it did not start`,
  );
}

function stoppedEarly({ name, logFile }: AgentSpec, { code, signal, lastLogLine }: AgentExit): BatError {
  const how = signal ?? (code === null ? "watchdog killed" : `exit code ${code}`);
  // The agent's own card that is missing is a file, and no peer that could be started.
  const peer = /agent[ _-]?card|\bmcp\b/i.test(lastLogLine ?? "") && !/FileNotFound/.test(lastLogLine ?? "");
  const hint = peer
    ? "\nAn agent or MCP server that it requires is unreachable: start that, or mark it `required: false` in config.yaml"
    : "";
  return new BatError(
    "agent",
    `"${name}" stopped before it was ready (${how}): ${lastLogLine ?? "it wrote nothing"}${hint}\nAgent log: ${logFile}`,
  );
}

async function neverReady(spec: AgentSpec, agent: LaunchedAgent, seen: string): Promise<BatError> {
  const { name, url, logFile, startupTimeoutMs, ready } = spec;
  const what = ready ?? `the agent card at ${url}`;
  const last = await lastLogLine(logFile, agent.logStart);
  const said = last === null ? "; it wrote nothing" : `; last line of its log: "${last}"`;
  const limit = `${startupTimeoutMs / 1000} s (evaluation.agent_startup_timeout_s)`;
  return new BatError(
    "agent",
    `"${name}" was not ready within ${limit}: ${what} did not answer as it should (${seen})${said}\nAgent log: ${logFile}`,
  );
}
