import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

export default defineProvider({
  apiVersion: 1,
  title: "OpenRouter",
  keyVariable: "OPENROUTER_API_KEY",
  model: (request) => compatible("openrouter", "https://openrouter.ai/api/v1", request),
});
