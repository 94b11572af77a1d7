import type { Episode } from "../../lib/eval/episode.ts";
import type { ModelResult } from "../../lib/eval/observer.ts";
import { defineReporter } from "../../lib/plugin/define.ts";

/** JUnit's XML as CI systems read it: a suite a model, a case an attempt; an attempt not carried out is an error. */
export default defineReporter({
  apiVersion: 1,
  title: "JUnit XML",
  fileName: "junit.xml",
  async *report({ id, result, episodes }) {
    yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xmlText(`bat ${id}`)}" ${counts(result)}>\n`;
    for (const [i, model] of result.models.entries()) {
      const seconds = (model.wall_ms?.total ?? 0) / 1000;
      yield `  <testsuite name="${xmlText(model.model)}" ${counts(model)} time="${seconds.toFixed(3)}">\n`;
      const written = new Map<string, Set<number>>();
      for await (const { file, episode } of episodes(i)) {
        yield testCase(model.model, file, episode);
        const { task_id, aux } = episode;
        written.set(task_id, (written.get(task_id) ?? new Set()).add(aux.attempt_index));
      }
      yield* missingCases(model, written);
      yield "  </testsuite>\n";
    }
    yield "</testsuites>\n";
  },
});

function counts({ planned, failed, carried_out }: Pick<ModelResult, "planned" | "failed" | "carried_out">) {
  return `tests="${planned}" failures="${failed}" errors="${planned - carried_out}"`;
}

function testCase(model: string, file: string, episode: Episode): string {
  const { task_id, aux, trace, verdict, final_output } = episode;
  const open = openCase(model, task_id, aux.attempt_index, trace.wall_ms);
  if (verdict.passed) return `${open}/>\n`;
  const tag = aux.outcome === "not-carried-out" ? "error" : "failure";
  const body = xmlText(`${verdict.reason}\n\nAnswer: ${final_output}\nEpisode: ${file}`);
  return `${open}>\n      <${tag} message="${xmlText(verdict.reason)}">${body}</${tag}>\n    </testcase>\n`;
}

/** Attempts of which there is no episode: a model that failed, a run that was stopped. */
function* missingCases(model: ModelResult, written: ReadonlyMap<string, ReadonlySet<number>>) {
  const message = xmlText(model.error ?? "Not carried out: the run was stopped");
  for (const { task_id, planned } of model.tasks) {
    for (let attempt = 0; attempt < planned; attempt += 1) {
      if (written.get(task_id)?.has(attempt) === true) continue;
      yield `${openCase(model.model, task_id, attempt, 0)}>\n      <error message="${message}"/>\n    </testcase>\n`;
    }
  }
}

function openCase(model: string, task: string, attempt: number, ms: number): string {
  const name = xmlText(`${task} try ${attempt}`);
  return `    <testcase classname="${xmlText(model)}" name="${name}" time="${(ms / 1000).toFixed(3)}"`;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

/** XML has no way to write most control characters and lone surrogates: they become the replacement character. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"\n\r\t]/g, (found) => ENTITIES[found] ?? found);
}
