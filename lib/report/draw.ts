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

/** Draws a Vega-Lite specification. The packages for it are loaded with the first chart. */
export async function draw(spec: object): Promise<Picture> {
  const [vega, lite, { Resvg }] = await Promise.all([
    import("vega"),
    import("vega-lite"),
    import("@resvg/resvg-js"),
  ]);
  const compiled = lite.compile(
    { $schema: "https://vega.github.io/schema/vega-lite/v6.json", ...spec } as never,
    { config: CONFIG as never },
  );
  const view = new vega.View(vega.parse(compiled.spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  // Without a font of its own the renderer leaves all text out, and says nothing.
  const font = {
    fontFiles: [join(packageRoot, "fixtures", "fonts", "DejaVuSans.ttf")],
    loadSystemFonts: false,
    defaultFontFamily: FONT,
  };
  const png = new Resvg(svg, { font, fitTo: { mode: "zoom", value: SCALE } }).render().asPng();
  return { svg, png };
}
