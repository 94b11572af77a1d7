import { packageVersion } from "../package.ts";

/** Runs `bat` with these words for this process: output, exit code, signals. */
export async function main(argv: readonly string[]): Promise<void> {
  const [only] = argv;
  if (argv.length === 1 && (only === "--version" || only === "-v" || only === "version")) {
    process.stdout.write(`bat ${packageVersion()}\n`);
    return;
  }
  const { runProcess } = await import("./process.ts");
  await runProcess(argv);
}
