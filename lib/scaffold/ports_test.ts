import assert from "node:assert/strict";
import { test } from "node:test";
import { readYaml } from "../text/yaml-read.ts";
import { nextPort, portIn } from "./ports.ts";

test("the port is found however the file is written", async () => {
  const cases: [string, number | null][] = [
    ["endpoint:\n  url: http://localhost # here\n  port: 9931   # mine\nmodel:\n  port: 1\n", 9931],
    ["endpoint: # c\n\n# c\n  port: 9931\n", 9931],
    ["endpoint:\n    port: 9931\n", 9931],
    ["endpoint: {port: 9931}\n", 9931],
    ['endpoint:\n  port: "9931"\n', 9931],
    ["endpoint:\n  url: http://localhost:9931\n", 9931],
    ["endpoint:\n  port: true\n", null],
    ["endpoint:\n  port: 70000\n", null],
    ["endpoint:\n  port: ${PORT}\n", null],
    ["endpoint: text\n", null],
    ["", null],
    ["x: |\n  endpoint:\n    port: 1\nendpoint:\n  port: 9931\n", 9931],
  ];
  for (const [text, port] of cases) {
    assert.equal(await portIn(text, "config.yaml"), port, text);
    readYaml(text, "config.yaml");
  }
});

test("the next port is past the highest, and one that is free where that is the last", () => {
  assert.deepEqual([nextPort([]), nextPort([9950, 9900]), nextPort([9900, 65_535])], [9900, 9951, 9901]);
});
