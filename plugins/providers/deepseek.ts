import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

export default defineProvider({
  apiVersion: 1,
  title: "DeepSeek",
  keyVariable: "DEEPSEEK_API_KEY",
  model: (request) => compatible("deepseek", "https://api.deepseek.com/v1", request),
});
