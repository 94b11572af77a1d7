import type { AgentExit, RunningAgent } from "../agent/agent.ts";
import type { AgentClient } from "../conversation/event.ts";
import { BatError, messageOf } from "../errors.ts";

/** An agent as an attempt needs it. */
export interface HostedAgent {
  client: AgentClient;
  /** Aborted when its process ends, with the Error that says how; absent for an agent that `bat` did not start. */
  exited?: AbortSignal;
}

/** The agent of one model, for as long as the model is evaluated. */
export interface AgentHost extends AsyncDisposable {
  /** The agent as it is now; one that died is started anew. Throws BatError when it is not to be had any more. */
  current(): Promise<HostedAgent>;
  /** Whether this very agent is known to be dead. */
  isDead(agent: HostedAgent): boolean;
}

/** An agent that was running before and goes on running. */
export async function connectedHost(connect: () => Promise<AgentClient>): Promise<AgentHost> {
  const agent: HostedAgent = { client: await connect() };
  return {
    current: () => Promise.resolve(agent),
    isDead: () => false,
    [Symbol.asyncDispose]: () => agent.client.close(),
  };
}

interface ProcessHostOptions {
  start: () => Promise<RunningAgent>;
  connect: (url: string) => Promise<AgentClient>;
  /** How often a dead agent is started anew. */
  restarts: number;
  onRestart: (exit: string, count: number) => Promise<void>;
  signal: AbortSignal;
}

interface Generation extends HostedAgent {
  process: RunningAgent;
  exit: AgentExit | null;
}

/** Starts the agent and keeps one running: an agent that dies is started anew at the next `current()`. */
export async function processHost(options: ProcessHostOptions): Promise<AgentHost> {
  let generation = await startGeneration(options);
  let restarting: Promise<Generation> | null = null;
  let restarts = 0;
  let closed = false;

  const restart = async (): Promise<Generation> => {
    let reason = generation.exit?.message ?? "The agent ended";
    // Also where the next one will not be started any more: its group may have left something behind.
    await endGeneration(generation);
    while (restarts < options.restarts) {
      options.signal.throwIfAborted();
      restarts += 1;
      await options.onRestart(reason, restarts);
      try {
        return await startGeneration(options);
      } catch (error) {
        if (options.signal.aborted) throw error;
        reason = messageOf(error);
      }
    }
    throw new BatError(
      "agent",
      `${reason}; it was started anew ${restarts} times (evaluation.agent_restarts) and is not started again`,
    );
  };

  return {
    async current() {
      if (generation.exit === null) return generation;
      if (closed) throw new BatError("agent", "The agent is stopped");
      restarting ??= restart().then((next) => {
        generation = next;
        restarting = null;
        return next;
      });
      return await restarting;
    },
    isDead: (agent) => (agent as Generation).exit !== null,
    async [Symbol.asyncDispose]() {
      closed = true;
      await restarting?.catch(() => {});
      await endGeneration(generation);
    },
  };
}

async function startGeneration({ start, connect }: ProcessHostOptions): Promise<Generation> {
  const process = await start();
  try {
    const client = await connect(process.url);
    const gone = new AbortController();
    const generation: Generation = { process, client, exited: gone.signal, exit: null };
    process.exited.then((exit) => {
      generation.exit = exit;
      gone.abort(new BatError("agent", exit.message));
    });
    return generation;
  } catch (error) {
    await process.stop();
    throw error;
  }
}

async function endGeneration(generation: Generation): Promise<void> {
  await generation.client.close();
  await generation.process.stop();
}
