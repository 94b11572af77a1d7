import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

/** Credentials are those of the AWS tools, from their own variables. */
export default defineProvider({
  apiVersion: 1,
  title: "Amazon Bedrock",
  keyVariable: null,
  package: "@ai-sdk/amazon-bedrock",
  model: (request) => packaged("@ai-sdk/amazon-bedrock", "createAmazonBedrock", request),
});
