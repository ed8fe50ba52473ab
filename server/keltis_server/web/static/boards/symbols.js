// @ts-check
// What is drawn once and used everywhere: the symbols of colours and tiles, grain and stripes.
//
// Symbols have one ink (currentColor) and strong strokes, so that they still work at 10 pixels.

import { around, circle, placed } from "./paths.js";
import { round, svg } from "./svg.js";

/** @type {Views.Colour[]} */
export const LETTERS = ["R", "Y", "V", "G", "B"];
/** @type {Record<Views.Letter, string>} */
export const SYMBOL_NAMES = {
  R: "spiral",
  Y: "sun",
  V: "triskele",
  G: "leaf",
  B: "wave",
  P: "points",
};

const SIDE = 24; // of the square that symbols are drawn in
const MIDDLE = SIDE / 2;
const LINE = { fill: "none", stroke: "currentColor", "stroke-linecap": "round", "stroke-linejoin": "round" };
const INK = { fill: "currentColor" };

// Each is made of parts: strokes, which have a width, and shapes, which may have a hole.
/** @type {Record<string, {d: string, width?: number, rule?: string}[]>} */
const DRAWINGS = {
  spiral: [
    {
      width: 2.7,
      d: "M12.4 12.6A1.6 1.6 0 0 1 15.4 12A4.4 4.4 0 0 1 6.8 12.4" + "A6.9 6.9 0 0 1 20.4 11.4A8.9 8.9 0 0 1 9.4 20.6",
    },
  ],
  sun: [{ d: circle(MIDDLE, MIDDLE, 4.7) }, { width: 2.5, d: around(8, "M12 4.4V2.2", MIDDLE, MIDDLE) }],
  triskele: [{ width: 2.7, d: around(3, "M12 12C11.2 8.2 12.2 4 16 3.4C19.6 3 20.6 7.6 17.4 8", MIDDLE, MIDDLE) }],
  leaf: [
    { d: "M20.6 3.2C10 3 4.4 7.6 5.2 16.4L16.4 6.6ZM20.8 4.6C21.4 15 16.6 20 8 18.8L18 8.2Z" },
    { width: 2.2, d: "M3.4 21.4L8.4 16.4" },
  ],
  wave: [
    {
      width: 2.7,
      d: [6.4, 12.6, 18.8]
        .map((y) => placed("M2.6 0C5-3.6 6.8-3.6 8.9-0.6S13.1 2.4 15.2-0.6S19.4-3.6 21.4-0.4", 0, y))
        .join(""),
    },
  ],
  points: [{ width: 2.6, d: "M12 3.4L20.6 12L12 20.6L3.4 12Z" }, { d: circle(MIDDLE, MIDDLE, 2.5) }],
  clover: [
    {
      d: around(
        3,
        "M12 12.4C7.8 9.6 6.6 6.8 7.8 4.6C9 2.6 11.4 3 12 4.8" + "C12.6 3 15 2.6 16.2 4.6C17.4 6.8 16.2 9.6 12 12.4Z",
        MIDDLE,
        MIDDLE,
      ),
    },
    { width: 1.9, d: "M12 12.4C12.1 16 12.8 19.4 15 21.8" },
  ],
  wish: [
    {
      rule: "evenodd",
      d:
        "M12 2.6C18.6 2.6 22 5.8 22 12S18.6 21.4 12 21.4S2 18.2 2 12S5.4 2.6 12 2.6Z" +
        "M12 5.6C12.7 10 14 11.3 18.4 12C14 12.7 12.7 14 12 18.4" +
        "C11.3 14 10 12.7 5.6 12C10 11.3 11.3 10 12 5.6Z",
    },
  ],
  drop: [
    { width: 2.3, d: "M7 12.4V4.2Q7 2.8 8.4 2.8H15.6Q17 2.8 17 4.2V12.4" },
    { width: 2.6, d: "M12 8V20.4M6.8 15.6L12 20.8L17.2 15.6" },
  ],
  joker: [{ width: 2.7, d: around(5, "M12 12V3.4", MIDDLE, MIDDLE) }],
  end: [{ width: 2.8, d: "M4 20.4H20M7 15.2H17" }, { d: "M12 2.4L17.2 11H6.8Z" }],
};

/**
 * The parts of a symbol around a point, or of the same around several.
 *
 * @param {string} name
 * @param {number} size
 * @param {Drawing.Place[]} places
 */
function parts(name, size, places) {
  const scale = size / SIDE;
  return DRAWINGS[name].map(({ d, width, rule }) => {
    const look = width ? { ...LINE, "stroke-width": round(width * scale) } : { ...INK, "fill-rule": rule };
    return svg("path", { ...look, d: places.map(({ x, y }) => placed(d, x - size / 2, y - size / 2, scale)).join("") });
  });
}

/**
 * Draw a symbol around a point, in the colour of the text.
 *
 * @param {string} name
 * @param {number} size
 * @param {number} [x]
 * @param {number} [y]
 * @param {Drawing.Attributes} [attributes]
 */
export function symbol(name, size, x = 0, y = 0, attributes = {}) {
  return symbols(name, size, [{ x, y }], attributes);
}

/**
 * Draw the same symbol around several points, as one.
 *
 * @param {string} name
 * @param {number} size
 * @param {Drawing.Place[]} places
 * @param {Drawing.Attributes} [attributes]
 */
export function symbols(name, size, places, attributes = {}) {
  return svg("g", { "data-symbol": name, ...attributes }, ...parts(name, size, places));
}

/** Put the grain, the joker's stripes and the hatching into the page, once. */
export function installPatterns() {
  if (document.getElementById("keltis-patterns")) return;
  const sprite = svg(
    "svg",
    { id: "keltis-patterns", class: "keltis-sprite", "aria-hidden": "true", focusable: "false" },
    grain(),
    stripes(),
    hatching(),
  );
  document.body.append(sprite);
}

const GRAIN = 72; // the specks of a square of this size are repeated
const SPECKS = 90;

/**
 * A faint grain for stones: a fill of specks, some darker and some lighter than the stone.
 *
 * A filter of noise would look the same, but takes most of a second to paint without a GPU.
 */
function grain() {
  const size = { width: GRAIN, height: GRAIN, patternUnits: "userSpaceOnUse" };
  return svg(
    "pattern",
    { id: "keltis-grain", ...size },
    svg("path", { class: "grain-dark", d: specks(11) }),
    svg("path", { class: "grain-light", d: specks(29) }),
  );
}

/**
 * Dots at places that look like chance and are always the same.
 *
 * @param {number} seed
 */
function specks(seed) {
  let state = seed;
  const next = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const dots = Array.from({ length: SPECKS }, () => {
    const [x, y, length] = [next() * GRAIN, next() * GRAIN, 0.3 + next() * 1.3];
    return `M${x.toFixed(1)} ${y.toFixed(1)}h${length.toFixed(1)}`;
  });
  return dots.join("");
}

const STRIPE = 9;

/** The joker's fill: all five colours. */
function stripes() {
  return svg(
    "pattern",
    {
      id: "keltis-stripes",
      width: STRIPE * 5,
      height: STRIPE * 5,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(32)",
    },
    ...LETTERS.map((letter, k) =>
      svg("rect", { class: `fill-${letter}`, x: k * STRIPE, width: STRIPE, height: STRIPE * 5 }),
    ),
  );
}

/** What lies over a closed pile. */
function hatching() {
  return svg(
    "pattern",
    {
      id: "keltis-hatching",
      width: 6,
      height: 6,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    svg("path", { class: "hatching", d: "M0 0V6", "stroke-width": 3 }),
  );
}

/** @type {Map<string, SVGSVGElement>} */
const icons = new Map(); // copied as often as they are needed

/**
 * A symbol for use in text.
 *
 * @param {string} name
 */
export function icon(name, kind = "icon") {
  const key = `${name} ${kind}`;
  let drawn = icons.get(key);
  if (!drawn) {
    const attributes = { class: kind, viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true", "data-symbol": name };
    drawn = svg("svg", attributes, ...parts(name, SIDE, [{ x: MIDDLE, y: MIDDLE }]));
    icons.set(key, drawn);
  }
  return /** @type {SVGSVGElement} */ (drawn.cloneNode(true));
}
