/** What a look at one thing came to. */
export interface Finding {
  /** What was looked at: `uv`, `planner: port`. */
  what: string;
  /** `problem` keeps something from working; `warning` may. */
  state: "ok" | "warning" | "problem";
  /** What was found, in a sentence. */
  found: string;
  /** What to do about it; null where nothing is to be done. */
  mend: string | null;
}

export function ok(what: string, found: string): Finding {
  return { what, state: "ok", found, mend: null };
}

export function warning(what: string, found: string, mend: string): Finding {
  return { what, state: "warning", found, mend };
}

export function problem(what: string, found: string, mend: string): Finding {
  return { what, state: "problem", found, mend };
}
