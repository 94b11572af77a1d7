import { readFile } from "node:fs/promises";
import { BatError } from "../errors.ts";

/**
 * A text file that is to be edited, with its byte order mark and line ends.
 *
 * @param shown its name for messages
 * @throws BatError (code `config`) when it cannot be read or is no UTF-8: writing it again would change what was there
 */
export async function readText(path: string, shown: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new BatError("config", `Cannot read ${shown}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const before = new TextDecoder("utf-8").decode(bytes).split("\ufffd", 1)[0]!;
    throw new BatError(
      "config",
      `Cannot edit ${shown}, it is not UTF-8 (line ${before.split("\n").length}); save it as UTF-8`,
      { cause: error },
    );
  }
}
