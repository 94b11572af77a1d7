import { defineProvider } from "../../lib/plugin/define.ts";
import { compatible } from "./_compatible.ts";

export default defineProvider({
  apiVersion: 1,
  title: "NVIDIA",
  keyVariable: "NVIDIA_API_KEY",
  model: (request) => compatible("nvidia", "https://integrate.api.nvidia.com/v1", request),
});
