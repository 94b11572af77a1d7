import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

export default defineProvider({
  apiVersion: 1,
  title: "Google",
  keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
  package: "@ai-sdk/google",
  model: (request) => packaged("@ai-sdk/google", "createGoogleGenerativeAI", request),
});
