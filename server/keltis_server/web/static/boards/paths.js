// @ts-check
// Path data that is scaled, moved and turned as text.
//
// A transform on an element would do the same, but a browser keeps books for each of them, and goes
// through all of those whenever anything on the page moves: with hundreds, that takes most of its time.

import { round } from "./svg.js";

const TOKENS = /[A-Z]|-?(?:\d+\.?\d*|\.\d+)/g;
/** @type {Record<string, number>} */
const POINTS = { M: 1, L: 1, C: 3, S: 2, Q: 2 }; // each command that is followed by points alone

/**
 * Path data with every point where `point(x, y)` says, and the radii of circles so many times as large.
 *
 * @param {string} d
 * @param {(x: number, y: number) => number[]} point
 * @param {number} scale
 */
function mapped(d, point, scale) {
  /** @type {string[]} */
  const tokens = d.match(TOKENS) ?? [];
  let [x, y] = [0, 0]; // where the pen is, before it is mapped
  let text = "";
  let command = "";
  for (let k = 0; k < tokens.length; ) {
    if (/[A-Z]/.test(tokens[k])) command = tokens[k++];
    if (command === "Z") {
      text += "Z";
      continue;
    }
    if (command === "H" || command === "V") {
      const to = Number(tokens[k++]);
      [x, y] = command === "H" ? [to, y] : [x, to];
      text += `L${point(x, y).map(round).join(" ")}`;
      continue;
    }
    text += command;
    if (command === "A") {
      const [given, , , large, sweep] = tokens.slice(k, (k += 5));
      const radius = round(Number(given) * scale);
      text += `${radius} ${radius} 0 ${large} ${sweep} `;
    }
    const places = [];
    for (let left = POINTS[command] ?? 1; left > 0; left--) {
      [x, y] = [Number(tokens[k++]), Number(tokens[k++])];
      places.push(...point(x, y).map(round));
    }
    text += places.join(" ");
  }
  return text;
}

/**
 * Path data, scaled around its origin and then moved.
 *
 * @param {string} d
 * @param {number} x
 * @param {number} y
 */
export function placed(d, x, y, scale = 1) {
  return mapped(d, (a, b) => [x + a * scale, y + b * scale], scale);
}

/**
 * Path data so many times, turned around a point until it is back where it began.
 *
 * @param {number} count
 * @param {string} d
 * @param {number} x
 * @param {number} y
 */
export function around(count, d, x, y) {
  const turns = Array.from({ length: count }, (_, k) => (2 * Math.PI * k) / count);
  return turns.map((angle) => turned(d, angle, x, y)).join("");
}

/**
 * @param {string} d
 * @param {number} angle
 * @param {number} x
 * @param {number} y
 */
function turned(d, angle, x, y) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return mapped(d, (a, b) => [x + (a - x) * cos - (b - y) * sin, y + (a - x) * sin + (b - y) * cos], 1);
}

/**
 * A circle as path data.
 *
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
export function circle(x, y, radius) {
  const [left, right, r] = [round(x - radius), round(x + radius), round(radius)];
  return `M${left} ${round(y)}A${r} ${r} 0 1 1 ${right} ${round(y)}A${r} ${r} 0 1 1 ${left} ${round(y)}Z`;
}

/**
 * The outline of a soft stone around a point: between an ellipse and a rectangle.
 *
 * @param {number} width
 * @param {number} height
 */
export function superellipse(width, height, fullness = 0.82, x = 0, y = 0) {
  const [left, right] = [round(x - width / 2), round(x + width / 2)];
  const [top, bottom] = [round(y - height / 2), round(y + height / 2)];
  const [a, b] = [(width / 2) * fullness, (height / 2) * fullness];
  const [west, east, north, south] = [x - a, x + a, y - b, y + b].map(round);
  const [middle, level] = [round(x), round(y)];
  return (
    `M${middle} ${top}C${east} ${top} ${right} ${north} ${right} ${level}S${east} ${bottom} ${middle} ${bottom}` +
    `S${left} ${south} ${left} ${level}S${west} ${top} ${middle} ${top}Z`
  );
}
