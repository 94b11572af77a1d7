/** `$NAME` and `${NAME}`, as Python's `os.path.expandvars` reads them. */
const VARIABLE = /\$(?:([A-Za-z0-9_]+)|\{([^}]*)\})/g;

/** Puts the values of environment variables in; those that are not set stay as they are. */
export function expandEnv(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(VARIABLE, (found, plain: string | undefined, braced: string | undefined) => {
    return env[plain ?? braced ?? ""] ?? found;
  });
}

/** Names of variables that a text mentions and the environment does not have. */
export function unsetVariables(text: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const names = [...text.matchAll(VARIABLE)].map((match) => match[1] ?? match[2] ?? "");
  return [...new Set(names.filter((name) => env[name] === undefined))];
}
