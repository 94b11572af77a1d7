import { defineCommand } from "../command.ts";

export default defineCommand({
  summary: "Show what an agent did, from its span files alone",
  group: "Evaluation",
  args: [{ name: "PATH", summary: "Span files (JSON lines), or folders of them", variadic: true }],
  flags: {
    conversation: {
      type: "string",
      value: "ID",
      summary: "The conversation to show; without it, those found are listed",
    },
    turn: { type: "list", summary: "What the user said, turn by turn" },
    "max-chars": { type: "integer", min: 1, summary: "Shorten the text to this many characters" },
    json: { type: "boolean", summary: "Print the trajectory as in an episode" },
  },
  examples: [
    { command: "bat trace eval/output/20261201_120000/spans-0", does: "List the conversations of a run" },
    { command: "bat trace spans.jsonl --conversation hello__try0", does: "Show one, step by step" },
  ],
  async run({ args, flags }, world) {
    const { listConversations, showConversation } = await import("../../trace/trace-command.ts");
    const { conversation, json, turn } = flags;
    if (conversation === undefined) await listConversations(args.PATH, json === true, world);
    else
      await showConversation(
        { paths: args.PATH, conversation, turns: turn, maxChars: flags["max-chars"], json: json === true },
        world,
      );
  },
});
