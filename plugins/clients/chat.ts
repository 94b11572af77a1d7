import { defineClient } from "../../lib/plugin/define.ts";

/** The kit's own client: a message in, a text out. */
export default defineClient({ apiVersion: 1, title: "Text answers", template: "chat.py" });
