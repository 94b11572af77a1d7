#!/usr/bin/env node
import { enableCompileCache } from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const supported = (major === 22 && minor >= 18) || major === 24 || major >= 26;

if (!supported) {
  process.stderr.write(
    `bat needs Node 22.18 or later, 24, or 26 and later; this is Node ${process.versions.node}\n`,
  );
  process.exitCode = 2;
} else {
  enableCompileCache?.();
  const { main } = await import("../lib/cli/main.ts");
  await main(process.argv.slice(2));
}
