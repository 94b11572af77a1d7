import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Groq",
  keyVariable: "GROQ_API_KEY",
  package: "@ai-sdk/groq",
  model: (request) => packaged("@ai-sdk/groq", "createGroq", request),
});
