import type { LanguageModel } from "ai";
import { BatError } from "../../lib/errors.ts";
import type { ModelRequest } from "../../lib/plugin/define.ts";

type Create = (options: { apiKey?: string; baseURL?: string }) => (model: string) => LanguageModel;

/** A model through an AI SDK package that bat does not bring along; says how to install it where it is missing. */
export async function packaged(
  name: string,
  create: string,
  { model, baseUrl, apiKey }: ModelRequest,
): Promise<LanguageModel> {
  let module: Record<string, unknown>;
  try {
    module = (await import(name)) as Record<string, unknown>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new BatError(
      "config",
      `This provider needs the package ${name}; install it with \`npm install ${name}\``,
      { cause: error },
    );
  }
  const key = apiKey === null ? {} : { apiKey };
  const url = baseUrl === null ? {} : { baseURL: baseUrl };
  return (module[create] as Create)({ ...key, ...url })(model);
}
