/** What is written holds to the fields that are known of both kinds, and to Kubernetes' own rules for metadata. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ObjectMeta } from "@kubernetes-models/apimachinery/apis/meta/v1/ObjectMeta";
import * as v from "valibot";
import { parse } from "yaml";
import { ProjectFolder } from "../../test/_project.ts";

const name = v.pipe(v.string(), v.maxLength(63), v.regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/));
const text = v.pipe(v.string(), v.minLength(1));
const named = v.strictObject({ name: text, value: text });
const metadata = v.strictObject({ name, namespace: name });
const apiVersion = v.literal("orama.trirematics.io/v1");

const CompositionModel = v.strictObject({
  apiVersion,
  kind: v.literal("CompositionModel"),
  metadata,
  spec: v.strictObject({ provider: text, version: v.pipe(v.string(), v.regex(/^v\d+\.\d+\.\d+$/)) }),
  deploymentModes: v.record(
    name,
    v.strictObject({
      kind: v.picklist(["agent", "mcp"]),
      name,
      vendor: text,
      imageTag: v.pipe(v.string(), v.regex(/^[\w./:-]+:[\w.-]+$/)),
      args: v.array(text),
      env: v.array(named),
      readinessProbe: v.strictObject({
        httpGet: v.strictObject({ path: text, port: v.pipe(v.number(), v.integer(), v.maxValue(65_535)) }),
        periodSeconds: v.number(),
        timeoutSeconds: v.number(),
        failureThreshold: v.number(),
      }),
      rules: v.array(v.unknown()),
    }),
  ),
});

const names = v.array(name);
const AIFabric = v.strictObject({
  apiVersion,
  kind: v.literal("AIFabric"),
  metadata,
  spec: v.strictObject({
    imagePullSecrets: v.optional(v.array(v.strictObject({ name }))),
    telemetry: v.optional(
      v.strictObject({ endpoint: v.pipe(v.string(), v.url()), projectName: v.optional(text) }),
    ),
    llms: v.optional(
      v.array(
        v.strictObject({
          name,
          provider: text,
          model: text,
          apiKeySecretRef: v.optional(v.strictObject({ name, key: text })),
          endpoint: v.optional(v.strictObject({ baseUrl: v.pipe(v.string(), v.url()) })),
        }),
      ),
    ),
    mcp: v.optional(
      v.array(
        v.variant("type", [
          v.strictObject({ name, type: v.literal("internal"), internal: v.strictObject({ model: text }) }),
          v.strictObject({
            name,
            type: v.literal("external"),
            external: v.strictObject({ baseUrl: v.nullable(v.string()) }),
          }),
        ]),
      ),
    ),
    agents: v.optional(
      v.array(
        v.strictObject({
          name,
          type: v.literal("internal"),
          internal: v.strictObject({
            model: v.pipe(v.string(), v.regex(/^[a-z0-9-]+\/[a-z0-9-]+$/)),
            llm: name,
            role: text,
            mcpServers: v.optional(names),
            dependencies: v.optional(names),
          }),
        }),
      ),
    ),
  }),
});

const CASES = fileURLToPath(new URL("../../fixtures/golden/manifests/cases/", import.meta.url));

/** Recorded blueprints without a manifest yet: what is written for them is ours alone. */
const fresh = readdirSync(CASES)
  .map((file) => JSON.parse(readFileSync(CASES + file, "utf8")) as Recorded)
  .filter(
    ({ given, before }) =>
      before === undefined && !Object.keys(given).some((path) => /(fabric|model)\.yaml$/.test(path)),
  );

interface Recorded {
  command: string[];
  cwd: string;
  given: Record<string, string>;
  before?: unknown;
  env?: Record<string, string>;
}

test("every manifest that is written anew fits its schema, and its metadata Kubernetes' own", async () => {
  let checked = 0;
  for (const { command, cwd, given, env } of fresh) {
    using folder = new ProjectFolder(given);
    const words = command.slice(1).filter((word) => word !== "--output" && word !== "-o");
    const { exit } = await folder
      .bat(words, { cwd, ...(env === undefined ? {} : { env }) })
      .catch(() => ({ exit: 2 }));
    if (exit !== 0) continue;
    for (const [path, content] of Object.entries(folder.files())) {
      if (!/(aifabric|composition-model)\.yaml$/.test(path)) continue;
      const value = parse(Buffer.from(content, "latin1").toString("utf8")) as {
        kind: string;
        metadata: object;
      };
      const schema = value.kind === "AIFabric" ? AIFabric : CompositionModel;
      const result = v.safeParse(schema, value);
      assert.ok(
        result.success,
        `${path}: ${result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join("; ")}`,
      );
      new ObjectMeta(value.metadata).validate();
      checked += 1;
    }
  }
  assert.ok(checked > 40, `${checked} manifests`);
});
