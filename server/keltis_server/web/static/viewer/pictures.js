// @ts-check
// A position as a picture: an SVG that needs no style sheet, or a PNG made from it.

import { draw, must } from "../lib/nodes.js";

/** @typedef {(colour: string) => string} Paint */

const KEPT = [
  "color",
  "display",
  "fill",
  "fill-opacity",
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "opacity",
  "stroke",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "stroke-opacity",
  "stroke-width",
  "text-anchor",
];
const COLOURS = new Set(["color", "fill", "stroke"]);
const SCALE = 2; // pixels of a PNG for each unit of the drawing
const CAPTION = 44; // units below the board

/**
 * Return a board as the text of an SVG file, with a line below it.
 *
 * @param {Element} frame
 * @param {string} caption
 */
export function svgOf(frame, caption) {
  /** @type {NodeListOf<SVGSVGElement>} */
  const layers = frame.querySelectorAll(".board > svg");
  const { width, height } = layers[0].viewBox.baseVal;
  const page = getComputedStyle(document.documentElement);
  const paint = painter();
  const paper = paint(page.backgroundColor);
  const full = height + CAPTION;
  const picture = draw("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${full}`,
    width,
    height: full,
  });
  picture.append(draw("title", {}, caption), ...definitions(paint), draw("rect", { width, height: full, fill: paper }));
  for (const layer of layers) picture.append(draw("g", {}, ...[...layer.children].map((node) => styled(node, paint))));
  const size = Math.min(16, (1.9 * width) / caption.length);
  const text = {
    x: width / 2,
    y: height + CAPTION / 2 + 4,
    "text-anchor": "middle",
    "font-size": size,
    "font-family": page.fontFamily,
  };
  picture.append(draw("text", { ...text, fill: paint(page.color) }, caption));
  return new XMLSerializer().serializeToString(picture);
}

/**
 * Return an SVG as a PNG.
 *
 * @param {string} text
 * @returns {Promise<Blob>}
 */
export async function pngOf(text) {
  const image = new Image();
  // The policy of the pages lets no image come from a blob.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.naturalWidth;
  canvas.height = SCALE * image.naturalHeight;
  must(canvas.getContext("2d")).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture could be made"))), "image/png");
  });
}

/**
 * Let the browser save something.
 *
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/**
 * The symbols and patterns that drawings refer to. Symbols take the ink of the drawing that uses them.
 *
 * @param {Paint} paint
 */
function definitions(paint) {
  const sprite = document.querySelector(".keltis-sprite");
  if (!sprite) return [];
  return [...sprite.children].map((node) => {
    const copy = /** @type {Element} */ (node.cloneNode(true));
    const [own, copied] = [node, copy].map((root) => [...root.querySelectorAll("pattern *")]);
    own.forEach((each, k) => dress(each, copied[k], paint));
    return copy;
  });
}

/**
 * @param {Element} node
 * @param {Paint} paint
 */
function styled(node, paint) {
  const copy = /** @type {Element} */ (node.cloneNode(true));
  const [own, copied] = [node, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  own.forEach((each, k) => dress(each, copied[k], paint));
  return copy;
}

/**
 * @param {Element} node
 * @param {Element} copy
 * @param {Paint} paint
 */
function dress(node, copy, paint) {
  const style = getComputedStyle(node);
  for (const name of KEPT) {
    const value = style.getPropertyValue(name);
    if (value) copy.setAttribute(name, COLOURS.has(name) ? paint(value) : value);
  }
  copy.removeAttribute("class");
  copy.removeAttribute("style");
}

/**
 * Return a function that writes colours in a way that every program reads.
 *
 * @returns {Paint}
 */
function painter() {
  /** @type {Map<string, string>} */
  const known = new Map();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = must(canvas.getContext("2d", { willReadFrequently: true }));
  return (colour) => {
    if (colour === "none" || colour.startsWith("url(")) return colour.replaceAll('"', "");
    let written = known.get(colour);
    if (written === undefined) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
      const share = (alpha / 255).toFixed(3);
      written = alpha === 255 ? `rgb(${red},${green},${blue})` : `rgba(${red},${green},${blue},${share})`;
      known.set(colour, written);
    }
    return written;
  };
}
