import { styleText } from "node:util";

export type Style = "green" | "red" | "yellow" | "dim" | "bold";
export type Painter = (style: Style, text: string) => string;

/** Colours texts, or leaves them as they are. Whether to colour is decided by the caller, not by the environment. */
export function painter(color: boolean): Painter {
  return color ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}
