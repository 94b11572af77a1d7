import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Episode } from "../../lib/eval/episode.ts";
import type { RunResult } from "../../lib/eval/observer.ts";
import { modelResult, runResult, taskResult } from "../../test/_results.ts";
import junit from "./junit.ts";

interface Ended {
  task: string;
  attempt: number;
  passed?: boolean;
  reason?: string;
  outcome?: "not-carried-out";
}

async function report(result: RunResult, ended: Ended[]): Promise<string> {
  async function* episodes() {
    for (const { task, attempt, passed = false, reason = "", outcome } of ended) {
      const episode = {
        task_id: task,
        final_output: "the answer",
        trace: { wall_ms: 1_500 },
        verdict: { passed, reason },
        aux: { attempt_index: attempt, outcome },
      };
      yield { file: `${task}.json`, episode: episode as unknown as Episode };
    }
  }
  let text = "";
  for await (const part of junit.report({ id: "r1", result, episodes })) text += part;
  return text;
}

test("a suite a model, a case an attempt; failures and what was not carried out are told apart", async () => {
  const tasks = [taskResult("a", 1, 2), taskResult("b", 0, 0, { planned: 2 })];
  const result = runResult([modelResult("x:y", tasks, { error: "The agent died 4 times" })]);
  const text = await report(result, [
    { task: "a", attempt: 0, passed: true },
    { task: "a", attempt: 1, reason: "output: missing 'x'" },
    { task: "b", attempt: 0, reason: "died", outcome: "not-carried-out" },
  ]);
  assert.equal(
    text,
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bat r1" tests="4" failures="1" errors="2">
  <testsuite name="x:y" tests="4" failures="1" errors="2" time="12.000">
    <testcase classname="x:y" name="a try 0" time="1.500"/>
    <testcase classname="x:y" name="a try 1" time="1.500">
      <failure message="output: missing 'x'">output: missing 'x'&#10;&#10;Answer: the answer&#10;Episode: a.json</failure>
    </testcase>
    <testcase classname="x:y" name="b try 0" time="1.500">
      <error message="died">died&#10;&#10;Answer: the answer&#10;Episode: b.json</error>
    </testcase>
    <testcase classname="x:y" name="b try 1" time="0.000">
      <error message="The agent died 4 times"/>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});

test("whatever a task or an answer says, the report stays well-formed XML", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), fc.string(), async (name, more) => {
      const reason = `${more}\ud800]]></failure><x>&"`;
      const result = runResult([modelResult(name, [taskResult(name, 0, 1)])]);
      const text = await report(result, [{ task: name, attempt: 0, reason }]);
      assert.ok(text.isWellFormed());
      assert.doesNotMatch(text, /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
      assert.doesNotMatch(text, /&(?!amp;|lt;|gt;|quot;|#\d+;)/);
      // Nothing but the elements of the report itself, properly nested.
      const tags = [...text.matchAll(/<[^>]*>/g)].map(
        ([tag]) => /^<[/?]?(\w+)/.exec(tag)![0] + (tag.endsWith("/>") ? "/" : ""),
      );
      assert.deepEqual(tags, [
        "<?xml",
        "<testsuites",
        "<testsuite",
        "<testcase",
        "<failure",
        "</failure",
        "</testcase",
        "</testsuite",
        "</testsuites",
      ]);
    }),
  );
});
