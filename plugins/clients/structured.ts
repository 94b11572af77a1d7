import { defineClient } from "../../lib/plugin/define.ts";

/** A client whose model fills in a pydantic class. */
export default defineClient({
  apiVersion: 1,
  title: "Answers of a schema (pydantic)",
  template: "structured.py",
});
