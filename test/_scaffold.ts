/** What a scaffolded file says, in the form in which the recorded cases have it. */
import { parser } from "@lezer/python";
import { parse } from "yaml";

/** Python: imports, classes, functions and the few values that matter. */
function readPython(text: string): Record<string, unknown> {
  let valid = true;
  parser.parse(text).iterate({
    enter({ type }) {
      if (type.isError) valid = false;
    },
  });
  const imports: Record<string, string[]> = {};
  for (const [, from, names] of text.matchAll(/^from (\S+) import (.+)$/gm))
    imports[from!] = names!.split(", ").sort();
  for (const [, name] of text.matchAll(/^import (\S+)$/gm)) imports[name!] = [];
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
  const classes = Object.fromEntries(
    [...text.matchAll(/^class (\w+)\((.*)\):$/gm)].map(([, name, bases]) => [name, bases!.split(", ")]),
  );
  return {
    valid_python: valid,
    imports,
    classes,
    functions: all(/^def (\w+)\(/gm),
    telemetry_privacy_floor: all(/telemetry_privacy_floor="(\w+)"/g).map((level) => `'${level}'`),
    assigns: all(/^ {8}(self\.\w+ = .*)$/gm),
    client_name: all(/client_name="(\w+)"/g).map((name) => `'${name}'`),
  };
}

/** TOML as our templates write it. */
function readToml(text: string): unknown {
  const value: Record<string, Record<string, unknown>> = {};
  const lists = text.replace(/= \[\n([\s\S]*?)\n\]/g, (_, body: string) => {
    const items = body.split("\n").map((line) => line.trim().replace(/,$/, ""));
    return `= [${items.filter((item) => !item.startsWith("#")).join(",")}]`;
  });
  let section = "";
  for (const line of lists.split("\n")) {
    const heading = /^\[([\w-]+)\]$/.exec(line)?.[1];
    const entry = /^([\w-]+) = (.+)$/.exec(line);
    if (heading !== undefined) section = heading;
    else if (entry !== null) {
      value[section] ??= {};
      value[section]![entry[1]!] = JSON.parse(entry[2]!) as unknown;
    }
  }
  return value;
}

function readDockerfile(text: string): unknown {
  const stages = [...text.matchAll(/^FROM (\S+) AS (\S+)$/gm)];
  const images = stages.map(([, image]) => image!.split("/").at(-1)!);
  return {
    from: [...images, ...stages.map(([, , name]) => name!)],
    entrypoint: [...text.matchAll(/^ENTRYPOINT (.+)$/gm)].map(([, words]) => words!),
  };
}

/** What a file of a project says; undefined for one that the cases say nothing of. */
export function readScaffolded(path: string, text: string): unknown {
  const name = path.split("/").at(-1)!;
  const line = (pattern: RegExp) => pattern.exec(text)?.[1];
  if (name === ".env")
    return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
  if (name === ".python-version") return text.trim();
  if (name === "Dockerfile") return readDockerfile(text);
  if (name === "Makefile")
    return { DOCKER_REGISTRY: line(/^DOCKER_REGISTRY \?=[ ]*(.*)$/m), REPO: line(/^REPO \?=[ ]*(.*)$/m) };
  if (name.endsWith(".spec"))
    return { name: line(/name="([^"]*)"/), valid_python: readPython(text).valid_python };
  if (name.endsWith(".py")) return readPython(text);
  if (name.endsWith(".json")) return JSON.parse(text) as unknown;
  if (name.endsWith(".toml")) return readToml(text);
  if (/\.ya?ml$/.test(name))
    return parse(text, name === "config.yaml" ? { version: "1.1" } : { merge: true }) as unknown;
  return undefined;
}
