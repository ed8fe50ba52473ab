// @ts-check
// What the two boards with figures have in common: stones, values, goal, start, tiles.

import { DATA } from "./data.js";
import { superellipse } from "./paths.js";
import { tile } from "./pieces.js";
import { label, round, svg } from "./svg.js";
import { SYMBOL_NAMES, symbols } from "./symbols.js";
import { signed } from "./words.js";

/**
 * Stones with their symbols carved in: {x, y, width, height, letter, kind}.
 *
 * All that look alike are drawn as one, so that a board has dozens of shapes and not hundreds.
 *
 * @param {Drawing.Stone[]} all
 */
export function stones(all) {
  /** @type {Map<string, Drawing.Stone[]>} */
  const alike = new Map();
  for (const stone of all) {
    const look = `stone stone-${stone.letter === "*" ? "joker" : stone.letter} stone-${stone.kind}`;
    alike.set(look, [...(alike.get(look) ?? []), stone]);
  }
  return svg("g", { class: "stones" }, ...[...alike].map(([look, some]) => svg("g", { class: look }, ...carved(some))));
}

/** @param {Drawing.Stone[]} some */
function carved(some) {
  const { letter, height } = some[0];
  const name = letter === "*" ? "joker" : SYMBOL_NAMES[letter];
  const parts = ground(some);
  if (letter === "*") parts.push(outline("veil", some, { wide: 0.56, high: 0.76 })); // so that its symbol can be seen
  return [...parts, symbols(name, round(height * 0.52), some, { class: "stone-symbol" }), outline("rim", some)];
}

/**
 * What a stone looks like without anything on it.
 *
 * @param {Drawing.Box[]} some
 * @param {number} [fullness]
 */
function ground(some, fullness) {
  return [
    outline("shade", some, { fullness, down: 3 }),
    outline("body", some, { fullness }),
    outline("grain", some, { fullness }),
  ];
}

/**
 * @param {string} part
 * @param {Drawing.Box[]} some
 * @param {{fullness?: number | undefined, wide?: number, high?: number, down?: number}} [shape]
 */
function outline(part, some, { fullness, wide = 1, high = 1, down = 0 } = {}) {
  const d = some.map(({ x, y, width, height }) => superellipse(width * wide, height * high, fullness, x, y + down));
  return svg("path", { class: `stone-${part}`, d: d.join("") });
}

/**
 * The big stone on which all figures begin.
 *
 * @param {Drawing.Box} start
 * @param {number} size
 * @param {string} word
 */
export function startStone(start, size, word) {
  const { x, y, height } = start;
  const fullness = 0.92;
  return svg(
    "g",
    { class: "stone stone-start" },
    ...ground([start], fullness),
    outline("rim", [start], { fullness }),
    label("ground-word", word, size, x, y + height * 0.32),
  );
}

/**
 * The rows of the goal, with room for its name.
 *
 * @param {Drawing.Measures} size
 * @param {number} width of the board
 * @param {number} rows
 */
export function goalArea({ top, row, left, end, word }, width, rows) {
  const y = top - end.height / 2 - word * 1.8;
  return { x: left - 10, y, width: width - left + 4, height: top + row * (rows - 0.5) - y };
}

/**
 * The tinted ground under the goal area, and its name.
 *
 * @param {Drawing.Box} ground
 * @param {number} size
 * @param {Words.Boards} words
 */
export function goalGround({ x, y, width, height }, size, words) {
  return svg(
    "g",
    {},
    svg("rect", { class: "goal-ground", x, y, width, height, rx: 22 }),
    label("ground-word", words.goal, size, x + 18, y + size),
  );
}

/**
 * What a figure is worth in a row, at the left edge.
 *
 * @param {number} value
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export function rowValue(value, x, y, size) {
  const kind = value < 0 ? "below" : "above";
  return label(`row-value row-value-${kind}`, signed(value), size, x, y);
}

/**
 * How many figures have entered the goal area: a peg hole for each that may.
 *
 * @param {Views.OnBoard} view
 * @param {Drawing.Box} ground
 * @param {number} size
 * @returns {Drawing.Piece[]}
 */
export function goalPegs(view, ground, size) {
  const step = size * 0.95;
  const right = ground.x + ground.width - 22;
  return Array.from({ length: DATA.goalFigures }, (_, k) => {
    const isFull = k < view.in_goal;
    const kind = `goal-peg${isFull ? " full" : ""}`;
    return {
      key: `peg${k}`,
      look: `${isFull}`,
      x: round(right - step * (DATA.goalFigures - 1 - k)),
      y: round(ground.y + size),
      draw: () => svg("circle", { class: kind, r: round(step * 0.34) }),
    };
  });
}

/**
 * The tiles that lie on a board.
 *
 * @param {Views.OnBoard} view
 * @param {(field: string) => Drawing.Place} place
 * @param {number} radius
 * @returns {Drawing.Piece[]}
 */
export function tiles(view, place, radius) {
  return Object.entries(view.tiles).map(([field, name]) => ({
    key: field,
    look: name,
    ...place(field),
    field,
    draw: () => {
      const node = tile(name, radius);
      node.setAttribute("data-tile", name);
      return node;
    },
  }));
}
