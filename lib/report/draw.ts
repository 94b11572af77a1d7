import { join } from "node:path";
import { packageRoot } from "../package.ts";

/** A chart as it is kept. */
export interface Picture {
  svg: string;
  png: Uint8Array;
}

const FONT = "DejaVu Sans";
/** Okabe and Ito's palette: told apart by people of every colour vision. */
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"];

/** How every chart looks. */
const CONFIG = {
  background: "white",
  font: FONT,
  padding: 14,
  title: { fontSize: 15, anchor: "start", offset: 12, fontWeight: "normal" },
  axis: {
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: "normal",
    gridColor: "#e6e6e6",
    labelLimit: 900,
  },
  legend: { labelFontSize: 12, titleFontSize: 12, labelLimit: 900 },
  range: { category: COLOURS },
  mark: { color: COLOURS[0] },
  text: { fontSize: 12 },
};

const SCALE = 2;

/** Draws a Vega-Lite specification as SVG. The packages for it are loaded with the first chart. */
async function toSvg(spec: object): Promise<string> {
  const [vega, lite] = await Promise.all([import("vega"), import("vega-lite")]);
  const compiled = lite.compile(
    { $schema: "https://vega.github.io/schema/vega-lite/v6.json", ...spec } as never,
    { config: CONFIG as never },
  );
  const view = new vega.View(vega.parse(compiled.spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

/** The pixels of an SVG, drawn in a thread of their own. */
async function toPng(svg: string): Promise<Uint8Array> {
  const { renderAsync } = await import("@resvg/resvg-js");
  // Without a font of its own the renderer leaves all text out, and says nothing.
  const font = {
    fontFiles: [join(packageRoot, "fixtures", "fonts", "DejaVuSans.ttf")],
    loadSystemFonts: false,
    defaultFontFamily: FONT,
  };
  return (await renderAsync(svg, { font, fitTo: { mode: "zoom", value: SCALE } })).asPng();
}

/** Draws specifications in order; while the pixels of one are drawn, the next is laid out. */
export async function* drawAll(specs: Iterable<object>): AsyncGenerator<Picture> {
  let last: Promise<Picture> | undefined;
  for (const spec of specs) {
    const svg = await toSvg(spec);
    const next = toPng(svg).then((png) => ({ svg, png }));
    // What goes wrong is told where it is awaited.
    next.catch(() => {});
    if (last !== undefined) yield await last;
    last = next;
  }
  if (last !== undefined) yield await last;
}
