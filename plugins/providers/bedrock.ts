import { defineProvider } from "../../lib/plugin/define.ts";
import { packaged } from "./_package.ts";

/** Credentials are those of the AWS tools, from their own variables; the region too. */
export default defineProvider({
  apiVersion: 1,
  title: "Amazon Bedrock",
  keyVariable: null,
  secretVariables: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  package: "@ai-sdk/amazon-bedrock",
  model: (request) =>
    packaged("@ai-sdk/amazon-bedrock", "createAmazonBedrock", request, {
      apiKey: request.apiKey ?? request.variable("AWS_BEARER_TOKEN_BEDROCK"),
      region: request.variable("AWS_REGION") ?? request.variable("AWS_DEFAULT_REGION"),
      accessKeyId: request.variable("AWS_ACCESS_KEY_ID"),
      secretAccessKey: request.variable("AWS_SECRET_ACCESS_KEY"),
      sessionToken: request.variable("AWS_SESSION_TOKEN"),
    }),
});
