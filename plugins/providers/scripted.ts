import { BatError } from "../../lib/errors.ts";
import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

/** For demos and tests: a model that a server on this machine plays. */
export default defineProvider({
  apiVersion: 1,
  title: "A scripted model on this machine",
  keyVariable: null,
  model(request) {
    if (request.baseUrl === null)
      throw new BatError("config", "The provider scripted needs a base_url on this machine");
    return compatible("scripted", request.baseUrl, request);
  },
});
