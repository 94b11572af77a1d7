// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of a shell
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BatError } from "../errors.ts";
import { agentUrl } from "./agent-url.ts";

const ENV = { PORT: "9921", HOST: "agents.lan" };

describe("agentUrl", () => {
  const right: [config: string, url: string][] = [
    ["", "http://localhost:9900"],
    ["endpoint:\n", "http://localhost:9900"],
    ["endpoint: {port: 9921}", "http://localhost:9921"],
    ["endpoint: {port: '9921'}", "http://localhost:9921"],
    ["endpoint: {url: http://localhost/}", "http://localhost:9900"],
    ["endpoint: {url: localhost}", "http://localhost:9900"],
    ["endpoint: {url: 'localhost:9921'}", "http://localhost:9921"],
    ["endpoint: {url: 'http://localhost:9921', port: 9921}", "http://localhost:9921"],
    ["endpoint: {url: 'http://localhost:80'}", "http://localhost"],
    ["endpoint: {url: 'https://desk.lan/a/b//', port: 8443}", "https://desk.lan:8443/a/b"],
    ["endpoint: {url: 'http://[::1]', port: 9921}", "http://[::1]:9921"],
    ["endpoint: {port: $PORT}", "http://localhost:9921"],
    ["endpoint:\n  url: http://${HOST}\n  port: ${PORT}\n", "http://agents.lan:9921"],
  ];
  for (const [config, url] of right) {
    it(JSON.stringify(config), () => assert.equal(agentUrl(config, "config.yaml", ENV), url));
  }

  const wrong: [config: string, message: RegExp][] = [
    [
      "endpoint: {url: 'http://localhost:1', port: 2}",
      /^config\.yaml endpoint\.port \(line 1, column \d+\): .*says port 1, endpoint\.port says 2/,
    ],
    ["endpoint:\n  port: 0", /endpoint\.port \(line 2, column 9\): Expected a port from 1 to 65535, found 0/],
    ["endpoint: {port: 65536}", /found 65536/],
    ["endpoint: {port: 1.5}", /found 1\.5/],
    ["endpoint: {port: [1]}", /found \[1\]/],
    ["endpoint:\n  port: ${NO_PORT}", /found "\$\{NO_PORT\}" \(NO_PORT is not set\)/],
    ["endpoint: {url: 'http://localhost:70000'}", /endpoint\.url/],
    ["endpoint: {url: 'ftp://x'}", /Expected an http or https URL, found "ftp:\/\/x"/],
    ["endpoint: {url: 3}", /found 3/],
    ["endpoint: {url: ''}", /found ""/],
    ["endpoint: http://localhost", /config\.yaml endpoint \(.*\): Expected a mapping/],
    ["endpoint: {", /^Cannot read config\.yaml as YAML/],
  ];
  for (const [config, message] of wrong) {
    it(`refuses ${JSON.stringify(config)}`, () => {
      assert.throws(() => agentUrl(config, "config.yaml", ENV), { code: "config", message });
    });
  }

  it("gives a URL or a BatError for any text", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((value) => `endpoint: {url: ${value}, port: ${value}}`),
    );
    fc.assert(
      fc.property(text, (config) => {
        try {
          assert.ok(URL.canParse(agentUrl(config, "config.yaml", ENV)));
        } catch (error) {
          assert.ok(error instanceof BatError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
