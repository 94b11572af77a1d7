import { readFile } from "node:fs/promises";

const LINE =
  /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*(?:=\s*(?:'((?:\\'|[^'])*)'|"((?:\\"|[^"])*)"|([^\r\n]*)))?/gm;

/**
 * Reads a `.env` file as python-dotenv does: `export`, single and double quotes (several lines too), comments,
 * `${NAME}` and `${NAME:-default}`.
 *
 * @returns the variables in order; none where there is no such file
 */
export async function readDotenv(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const found: Record<string, string> = {};
  for (const [, name = "", single, double, plain] of text.replace(/^\s*#.*$/gm, "").matchAll(LINE)) {
    const raw =
      single?.replaceAll("\\'", "'") ??
      (double === undefined ? undefined : unescaped(double)) ??
      plainValue(plain);
    if (raw === undefined) continue;
    found[name] = single === undefined ? expand(raw, { ...found, ...env }) : raw;
  }
  return found;
}

function plainValue(text: string | undefined): string | undefined {
  return text?.replace(/\s+#.*$/, "").trim();
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", "'": "'" };
  return text.replace(/\\([nrt"'\\])/g, (_, letter: string) => escapes[letter] ?? letter);
}

function expand(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(
    /\$\{([^}:]+)(?::-([^}]*))?\}/g,
    (_, name: string, fallback = "") => env[name] ?? (fallback as string),
  );
}
