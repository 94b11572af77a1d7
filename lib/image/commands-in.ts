/** Programs that build and push images with docker's words. */
const ENGINE = /(?:^|\/)(?:docker|podman|nerdctl)$/;
/** Groups that docker's verbs may stand in. */
const GROUPS = new Set(["buildx", "image", "builder"]);

/**
 * The image that a list of shell commands (as `make -n` prints them) would build or push last, null where none is
 * named: that of `docker build … --tag IMAGE` or of `docker push IMAGE`.
 */
export function imageIn(commands: string, verb: "build" | "push"): string | null {
  let image: string | null = null;
  for (const words of commandsOf(commands)) {
    const rest = afterVerb(words, verb);
    if (rest !== null) image = (verb === "build" ? tagOf(rest) : firstArgument(rest)) ?? image;
  }
  return image;
}

function afterVerb(words: readonly string[], verb: string): string[] | null {
  const engine = words.findIndex((word) => ENGINE.test(word));
  if (engine === -1) return null;
  let afterFlag = false;
  for (let i = engine + 1; i < words.length; i += 1) {
    const word = words[i]!;
    if (word === verb) return words.slice(i + 1);
    // A word behind a flag may be its value: `docker --context far build`.
    if (!word.startsWith("-") && !GROUPS.has(word) && !afterFlag) return null;
    afterFlag = word.startsWith("-") && !word.includes("=");
  }
  return null;
}

function tagOf(words: readonly string[]): string | null {
  let tag: string | null = null;
  words.forEach((word, i) => {
    if (word === "-t" || word === "--tag") tag = words[i + 1] ?? tag;
    else if (word.startsWith("--tag=")) tag = word.slice("--tag=".length);
    else if (/^-t./.test(word)) tag = word.slice(2).replace(/^=/, "");
  });
  return tag;
}

function firstArgument(words: readonly string[]): string | null {
  return words.find((word) => !word.startsWith("-")) ?? null;
}

/** Words of each command, quotes taken off; continued lines are one. */
function commandsOf(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  const joined = text.replaceAll(/\\\r?\n[ \t]*/g, " ");
  const token =
    /(\r?\n|;|&&?|\|\|?|[(){}](?=\s|$))|((?:"(?:[^"\\]|\\[\s\S])*"|'[^']*'|\\[\s\S]|[^\s;&|"'\\])+)|\s|["']/g;
  for (const [, end, word] of joined.matchAll(token)) {
    if (end !== undefined) {
      commands.push(words);
      words = [];
    } else if (word !== undefined) words.push(unquoted(word));
  }
  return [...commands, words];
}

function unquoted(word: string): string {
  return word.replaceAll(/"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|\\([\s\S])/g, (_, double, single, char) =>
    double !== undefined ? (double as string).replaceAll(/\\(["\\$`])/g, "$1") : (single ?? char),
  );
}
