// What the two boards with figures have in common: stones, values, goal, start, tiles.

import { DATA } from "./data.js";
import { tile } from "./pieces.js";
import { at, label, round, superellipse, svg, symbol } from "./svg.js";
import { SYMBOL_NAMES } from "./symbols.js";
import { signed } from "./words.js";

/** A stone of a colour with its symbol carved in. */
export function stone({ x, y }, { width, height }, letter, kind) {
  const isJoker = letter === "*";
  const name = isJoker ? "joker" : letter;
  const outline = superellipse(width, height);
  const veil = superellipse(width * 0.56, height * 0.76); // so that a joker's symbol can be seen
  return svg(
    "g",
    { class: `stone stone-${isJoker ? "joker" : letter} stone-${kind}`, transform: at(x, y) },
    svg("path", { class: "stone-shade", d: outline, transform: "translate(0 3)" }),
    svg("path", { class: "stone-body", d: outline }),
    svg("path", { class: "stone-grain", d: outline }),
    ...(isJoker ? [svg("path", { class: "stone-veil", d: veil })] : []),
    symbol(SYMBOL_NAMES[name] ?? name, round(height * 0.52), 0, 0, { class: "stone-symbol" }),
    svg("path", { class: "stone-rim", d: outline }),
  );
}

/** The big stone on which all figures begin. */
export function startStone({ x, y, width, height }, size, word) {
  const outline = superellipse(width, height, 0.92);
  return svg(
    "g",
    { class: "stone stone-start", transform: at(x, y) },
    svg("path", { class: "stone-shade", d: outline, transform: "translate(0 4)" }),
    svg("path", { class: "stone-body", d: outline }),
    svg("path", { class: "stone-grain", d: outline }),
    svg("path", { class: "stone-rim", d: outline }),
    label("ground-word", word, size, 0, height * 0.32),
  );
}

/** The tinted ground under the goal area, and its name. */
export function goalGround({ x, y, width, height }, size, words) {
  return svg(
    "g",
    {},
    svg("rect", { class: "goal-ground", x, y, width, height, rx: 22 }),
    label("ground-word", words.goal, size, x + 18, y + size),
  );
}

/** What a figure is worth in a row, at the left edge. */
export function rowValue(value, x, y, size) {
  const kind = value < 0 ? "below" : "above";
  return label(`row-value row-value-${kind}`, signed(value), size, x, y);
}

/** How many figures have entered the goal area: a peg hole for each that may. */
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

/** The tiles that lie on a board. */
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
