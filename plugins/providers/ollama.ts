import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Ollama, and any server with OpenAI's API that needs no key",
  keyVariable: null,
  model: (request) => compatible("ollama", "http://localhost:11434/v1", request),
});
