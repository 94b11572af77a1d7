import { readFileSync } from "node:fs";
import { join } from "node:path";
import { x } from "tinyexec";
import { packageRoot } from "../package.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** What a project needs of its machine. */
export interface Needs {
  /** A Python project made with the kit. */
  python: boolean;
  makefile: boolean;
}

/** Looks at the programs of this machine. */
export async function lookAtMachine(needs: Needs): Promise<Finding[]> {
  const [uv, make, engine] = await Promise.all([
    versionOf("uv"),
    versionOf("make"),
    Promise.all(["docker", "podman"].map(versionOf)),
  ]);
  const found = engine.find((version) => version !== null) ?? null;
  return [
    lookAtNode(),
    program(
      "uv",
      uv,
      needs.python,
      "Install uv: https://docs.astral.sh/uv",
      "agents made with bat-adk start with it",
    ),
    program(
      "make",
      make,
      needs.makefile,
      "Install GNU make",
      "`bat build` and `bat push` follow the Makefile",
    ),
    program(
      "docker",
      engine[0] ?? null,
      false,
      found === null
        ? "Install Docker"
        : "Point docker at podman (package podman-docker), or build with the Makefile",
      "`bat build` and `bat push` need it where the Makefile does not name another engine",
    ),
  ];
}

function lookAtNode(): Finding {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  const own = process.versions.node;
  const [major = 0, minor = 0] = own.split(".").map(Number);
  const fits = engines.node.split("||").some((range) => {
    const [, sign, from = "0", least = "0"] = /(\^|>=)(\d+)\.(\d+)/.exec(range) ?? [];
    if (sign === "^") return major === Number(from) && minor >= Number(least);
    return major > Number(from) || (major === Number(from) && minor >= Number(least));
  });
  const found = `Node ${own}`;
  return fits
    ? ok("node", found)
    : warning("node", found, `bat is made for Node ${engines.node}: use one of these`);
}

function program(name: string, version: string | null, needed: boolean, mend: string, why: string): Finding {
  if (version !== null) return ok(name, version);
  const found = `not found on PATH; ${why}`;
  return needed ? problem(name, found, mend) : warning(name, found, mend);
}

/** The first line that a program says of its version; null where there is no such program, or it cannot be run. */
async function versionOf(name: string): Promise<string | null> {
  try {
    const { stdout, exitCode } = await x(name, ["--version"], {
      timeout: 10_000,
      nodeOptions: { stdio: "pipe" },
    });
    return exitCode === 0 ? (stdout.split("\n")[0]?.trim() ?? name) : null;
  } catch {
    return null;
  }
}
