import type { Digest } from "../store/atomic.ts";
import type { BaseFact } from "../store/journal.ts";
import type { Outcome } from "./episode.ts";

/** `<model>/<task>/<attempt>`, each the index from 0 in the plan. */
export type SlotKey = `${number}/${number}/${number}`;

/** A line of a run's journal. */
export type Fact =
  | (BaseFact & { fact: "run-opened"; pid: number; version: string; resumed: boolean; forced?: string[] })
  | (BaseFact & { fact: "model-started"; model: number; try: number })
  | (BaseFact & { fact: "model-failed"; model: number; message: string })
  | (BaseFact & { fact: "agent-restarted"; model: number; exit: string })
  | (BaseFact & { fact: "attempt-started"; slot: SlotKey; context: string })
  | (BaseFact & {
      fact: "attempt-finished";
      slot: SlotKey;
      episode: Digest;
      outcome: Outcome;
      tokens: number;
    })
  /** Its episode is on disk no more. */
  | (BaseFact & { fact: "attempt-lost"; slot: SlotKey })
  | (BaseFact & { fact: "attempt-decided-anew"; slot: SlotKey; episode: Digest })
  | (BaseFact & { fact: "judged"; slot: SlotKey; episode: Digest; tokens?: number })
  | (BaseFact & { fact: "run-closed"; state: "complete" | "incomplete" | "stopped" });

/** A fact as it is handed to the journal, which adds the time. */
export type NewFact = Fact extends infer F ? (F extends Fact ? Omit<F, "at"> : never) : never;

export function slotKey(model: number, task: number, attempt: number): SlotKey {
  return `${model}/${task}/${attempt}`;
}

/** What is known of one slot. */
export interface SlotState {
  /** How often its attempt was started; names the conversation of the next try. */
  starts: number;
  finished: { episode: Digest; outcome: Outcome } | null;
  judged?: true;
}

/**
 * The state of a run: a fold over its facts. A slot that ended without having been carried out is open again for a
 * resumed run; one that was carried out is closed for good.
 */
export class RunState {
  readonly #slots = new Map<SlotKey, SlotState>();
  readonly #modelErrors = new Map<number, string>();
  readonly #modelTries = new Map<number, number>();
  readonly #restarts = new Map<number, number>();
  /** Facts that contradict each other: a slot that was carried out twice. */
  readonly contradictions: string[] = [];
  /** Tokens of the agent, as its spans tell. */
  tokens = 0;
  /** Tokens that judging took. */
  judgeTokens = 0;

  constructor(facts: Iterable<Fact> = []) {
    for (const fact of facts) this.apply(fact);
  }

  apply(fact: Fact | NewFact): void {
    switch (fact.fact) {
      case "attempt-started":
        this.#slot(fact.slot).starts += 1;
        break;
      case "attempt-finished": {
        const slot = this.#slot(fact.slot);
        if (slot.finished?.outcome === "carried-out")
          this.contradictions.push(`attempt ${fact.slot} ended twice`);
        slot.finished = { episode: fact.episode, outcome: fact.outcome };
        this.tokens += fact.tokens;
        break;
      }
      case "attempt-lost": {
        const slot = this.#slot(fact.slot);
        slot.finished = null;
        delete slot.judged;
        break;
      }
      case "attempt-decided-anew": {
        const slot = this.#slot(fact.slot);
        if (slot.finished === null)
          this.contradictions.push(`attempt ${fact.slot} was decided anew but never ended`);
        else slot.finished = { ...slot.finished, episode: fact.episode };
        break;
      }
      case "judged": {
        const slot = this.#slot(fact.slot);
        if (slot.finished === null)
          this.contradictions.push(`attempt ${fact.slot} was judged but never ended`);
        else slot.finished = { ...slot.finished, episode: fact.episode };
        slot.judged = true;
        this.judgeTokens += fact.tokens ?? 0;
        break;
      }
      case "model-started":
        this.#modelErrors.delete(fact.model);
        this.#modelTries.set(fact.model, fact.try + 1);
        break;
      case "model-failed":
        this.#modelErrors.set(fact.model, fact.message);
        break;
      case "agent-restarted":
        this.#restarts.set(fact.model, this.restarts(fact.model) + 1);
        break;
      case "run-opened":
      case "run-closed":
        break;
    }
  }

  #slot(key: SlotKey): SlotState {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = { starts: 0, finished: null };
      this.#slots.set(key, slot);
    }
    return slot;
  }

  slot(key: SlotKey): Readonly<SlotState> {
    return this.#slots.get(key) ?? { starts: 0, finished: null };
  }

  /** Whether the slot is done with: its attempt was carried out. */
  isClosed(key: SlotKey): boolean {
    return this.#slots.get(key)?.finished?.outcome === "carried-out";
  }

  /** Whether a judge has scored the slot's episode. */
  isJudged(key: SlotKey): boolean {
    return this.#slots.get(key)?.judged === true;
  }

  modelError(model: number): string | null {
    return this.#modelErrors.get(model) ?? null;
  }

  /** How often the model's agent was started by a run or a resumed one; 0 before the first. */
  modelTries(model: number): number {
    return this.#modelTries.get(model) ?? 0;
  }

  restarts(model: number): number {
    return this.#restarts.get(model) ?? 0;
  }

  /** All slots that any fact speaks of. */
  keys(): Iterable<SlotKey> {
    return this.#slots.keys();
  }
}
