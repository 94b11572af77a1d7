import type { LanguageModel } from "ai";
import type { ModelRequest } from "../../lib/plugin/define.ts";

type Create = (options: Record<string, unknown>) => (model: string) => LanguageModel;

/**
 * A model through an AI SDK package that bat does not bring along.
 *
 * @param create the name of the package's function that makes its provider
 * @param more options of it beside key and address; those that are undefined are left out
 */
export async function packaged(
  name: string,
  create: string,
  { model, baseUrl, apiKey, load, fetch }: ModelRequest,
  more: Record<string, string | undefined> = {},
): Promise<LanguageModel> {
  const module = await load(name);
  const options = { apiKey: apiKey ?? undefined, baseURL: baseUrl ?? undefined, ...more };
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== "");
  return (module[create] as Create)({ ...Object.fromEntries(given), fetch })(model);
}
