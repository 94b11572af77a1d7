import { connectA2a } from "../../lib/conversation/a2a/client.ts";
import { defineProtocol } from "../../lib/plugin/define.ts";

/** Agent2Agent, versions 1.0 and 0.3, over JSON-RPC and HTTP+JSON. */
export default defineProtocol({
  apiVersion: 1,
  title: "A2A",
  connect: (target, { signal }) => connectA2a(target, signal),
});
