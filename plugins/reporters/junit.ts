import type { Episode } from "../../lib/eval/episode.ts";
import { defineReporter } from "../../lib/plugin/define.ts";

/** JUnit's XML as CI systems read it: a suite a model, a case an attempt. */
export default defineReporter({
  apiVersion: 1,
  title: "JUnit XML",
  fileName: "junit.xml",
  async *report({ id, result, episodes }) {
    const { planned, failed, carried_out } = result;
    const counts = `tests="${planned}" failures="${failed}" errors="${planned - carried_out}"`;
    yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xmlText(`bat ${id}`)}" ${counts}>\n`;
    for (const [i, model] of result.models.entries()) {
      const missing = model.planned - model.carried_out;
      yield `  <testsuite name="${xmlText(model.model)}" tests="${model.planned}" failures="${model.failed}" errors="${missing}">\n`;
      let written = 0;
      for await (const { file, episode } of episodes(i)) {
        yield testCase(model.model, file, episode);
        written += 1;
      }
      if (written < model.planned) yield missingCase(model.model, model.planned - written, model.error);
      yield "  </testsuite>\n";
    }
    yield "</testsuites>\n";
  },
});

function testCase(
  model: string,
  file: string,
  { task_id, aux, trace, verdict, final_output }: Episode,
): string {
  const name = `${task_id} try ${aux.attempt_index}`;
  const open = `    <testcase classname="${xmlText(model)}" name="${xmlText(name)}" time="${(trace.wall_ms / 1000).toFixed(3)}"`;
  if (verdict.passed) return `${open}/>\n`;
  const tag = aux.outcome === "not-carried-out" ? "error" : "failure";
  const body = xmlText(`${verdict.reason}\n\nAnswer: ${final_output}\nEpisode: ${file}`);
  return `${open}>\n      <${tag} message="${xmlText(verdict.reason)}">${body}</${tag}>\n    </testcase>\n`;
}

function missingCase(model: string, count: number, error: string | null): string {
  const message = error ?? "the run was stopped";
  return `    <testcase classname="${xmlText(model)}" name="${count} attempts not carried out">\n      <error message="${xmlText(message)}"/>\n    </testcase>\n`;
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
