import * as v from "valibot";
import { API_VERSION } from "../define.ts";

/** The contract's version that a plugin was written for. */
export const apiVersion = v.literal(
  API_VERSION,
  ({ received }) => `expected apiVersion ${API_VERSION}, received ${received}`,
);

export const functionValue = v.function("Expected a function");
