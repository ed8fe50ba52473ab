// @ts-check
// The pieces of the games: figures, tiles, and cards on a table and in a panel.

import { placed, superellipse } from "./paths.js";
import { html, label, round, svg } from "./svg.js";
import { icon, SYMBOL_NAMES, symbol } from "./symbols.js";

/** @param {string} card */
function letterOf(card) {
  return /** @type {Views.Letter} */ (card[0]);
}

/* Figures: carved pegs. Each player has a head and a pattern of his own; the foot is at (0, 0). */
const BODY = "M-8.6 0C-9.4-1-9-2.6-7.6-3.4C-4.6-5.4-3.8-9-3.6-13" + "H3.6C3.8-9 4.6-5.4 7.6-3.4C9-2.6 9.4-1 8.6 0Z";
const HEADS = [
  "M0-26.4A6.6 6.6 0 0 1 0-13.2A6.6 6.6 0 0 1 0-26.4Z",
  "M-5.8-25.2H5.8V-13.4H-5.8Z",
  "M0-28L7.8-13.4H-7.8Z",
  "M0-28L7.6-20.2L0-12.4L-7.6-20.2Z",
];
const PATTERNS = ["", "M-2.2-8.6H2.2", "M-1.8-10.6H1.8M-2.6-6.6H2.6", "M0-11V-2.6"];
const CROWNS = [-19.8, -19.4, -17.6, -20.2]; // where the head of a big one is marked
const BIG = 1.42;

/**
 * Draw a figure of a seat; the big one is clearly bigger.
 *
 * @param {number} seat
 * @param {boolean} isBig
 */
export function figure(seat, isBig, scale = 1) {
  const size = scale * (isBig ? BIG : 1);
  /** @type {(name: "ellipse" | "path" | "circle", kind: string, width: number, attributes: Drawing.Attributes) => SVGElement} */
  const part = (name, kind, width, attributes) =>
    svg(name, { class: `figure-${kind}`, "stroke-width": width && round(width * size), ...attributes });
  const shade = { cx: round(size), cy: round(-0.4 * size), rx: round(9.6 * size), ry: round(3 * size) };
  const parts = [
    part("ellipse", "shade", 0, shade),
    part("path", "body", 3.2, { d: placed(BODY + HEADS[seat], 0, 0, size) }),
  ];
  if (PATTERNS[seat]) parts.push(part("path", "mark", 1.5, { d: placed(PATTERNS[seat], 0, 0, size) }));
  if (isBig) parts.push(part("circle", "crown", 0, { cy: round(CROWNS[seat] * size), r: round(2.3 * size) }));
  return svg("g", { class: `figure player-${seat}${isBig ? " big" : ""}` }, ...parts);
}

/**
 * A figure for use in text: whose something is.
 *
 * @param {number} seat
 */
export function figureIcon(seat, isBig = false) {
  return svg(
    "svg",
    { class: "figure-icon", viewBox: "-11 -30 22 32", "aria-hidden": "true" },
    figure(seat, isBig, isBig ? 1 / BIG : 1),
  );
}

/**
 * Draw a tile of a board around the origin: what lies on a dark stone.
 *
 * @param {string} name
 * @param {number} radius
 */
export function tile(name, radius) {
  const [kind, letter] = /** @type {[string, Views.Letter | undefined]} */ (name.split(" "));
  const outline = superellipse(radius * 2, radius * 2, 0.62);
  /** @type {SVGElement[]} */
  const parts = [svg("path", { class: "tile-body", d: outline })];
  if (/^\d+$/.test(kind)) {
    parts.push(label("tile-points", `+${kind}`, radius * 1.12));
  } else {
    parts.push(symbol(kind, round(radius * 1.34), 0, 0, { class: "tile-sign" }));
  }
  if (letter) {
    const r = radius * 0.56;
    const [x, y] = [round(radius * 0.72), round(-radius * 0.66)];
    const badge = `badge fill-${letter} edge-${letter}`;
    parts.push(svg("circle", { class: badge, cx: x, cy: y, r: round(r) }));
    parts.push(symbol(SYMBOL_NAMES[letter], round(r * 1.5), x, y, { class: `ink-${letter}` }));
  }
  return svg("g", { class: `tile tile-${/^\d+$/.test(kind) ? "points" : kind}` }, ...parts);
}

/**
 * The value of a card as it is printed: end cards have a sign instead.
 *
 * @param {string} card
 */
export function isEnd(card) {
  return card.slice(1) === "E";
}

/**
 * A card in a panel.
 *
 * @param {string} name
 * @param {Drawing.Attributes} [attributes]
 */
export function card(name, attributes = {}) {
  const letter = letterOf(name);
  const value = isEnd(name) ? icon("end", "icon card-end") : name.slice(1);
  return html(
    "span",
    { class: `card card-${letter}`, "data-card": name, ...attributes },
    html("span", { class: "card-value" }, value),
    icon(SYMBOL_NAMES[letter], "icon card-symbol"),
  );
}

/** The back of a card that nobody here may see. */
export function cardBack() {
  const knot = icon("joker", "icon card-symbol");
  return html("span", { class: "card card-back", "data-back": "" }, knot);
}

/**
 * Draw a card on a table, from its top edge downwards; of a covered one only its edge is seen.
 *
 * @param {string} name
 * @param {number} width
 * @param {number} height
 */
export function drawnCard(name, width, height, isCovered = false) {
  const letter = letterOf(name);
  const body = svg("rect", {
    class: `card-body fill-${letter} edge-${letter}`,
    width: round(width),
    height: round(height),
    rx: round(Math.min(width, height) * 0.12),
  });
  const node = svg("g", { class: "drawn-card", "data-card": name }, body);
  if (isCovered) return node;
  const isWide = width > height;
  const size = isWide ? Math.min(height * 0.62, width * 0.4) : width * 0.42;
  const digits = round(name.length > 2 ? size * 0.86 : size);
  const [x, y] = [round(width * 0.3), round(isWide ? height / 2 : size * 0.64)];
  const ink = `ink-${letter}`;
  const value = isEnd(name)
    ? symbol("end", round(size * 0.92), x, y, { class: ink })
    : label(`card-number ${ink}`, name.slice(1), digits, x, y);
  const sign = SYMBOL_NAMES[letter];
  node.append(value, symbol(sign, round(size * 0.84), round(width * 0.76), y, { class: ink }));
  if (!isWide) {
    const watermark = { class: `${ink} card-watermark` };
    node.append(symbol(sign, round(width * 0.5), width / 2, round(height * 0.68), watermark));
  }
  return node;
}

/**
 * Draw a stack of wish stones of a colour around the origin, with their number.
 *
 * @param {string} letter
 * @param {number} count
 * @param {number} radius
 */
export function stack(letter, count, radius) {
  const stones = Array.from({ length: count }, (_, k) =>
    svg("path", {
      class: `stack-stone fill-${letter} edge-${letter}`,
      d: superellipse(radius * 2, radius * 1.5, 0.7, 0, (count / 2 - k) * radius * 0.2),
    }),
  );
  const y = round((1 - count / 2) * radius * 0.2);
  return svg(
    "g",
    { class: "stack", "data-stack": count },
    ...stones,
    symbol("wish", round(radius * 1.05), -radius * 0.3, y, { class: `ink-${letter}` }),
    label(`stack-count ink-${letter}`, count, radius * 0.95, radius * 0.55, y),
  );
}

/**
 * Draw a wish stone with its number around the origin.
 *
 * @param {number} value
 * @param {number} radius
 * @param {number} [seat]
 */
export function wishStone(value, radius, seat) {
  return svg(
    "g",
    { class: "wish-stone", "data-wish": value, "data-owner": seat },
    svg("path", { class: "tile-body", d: superellipse(radius * 2, radius * 1.84, 0.66) }),
    label("wish-value", value, radius * 1.12),
  );
}

/**
 * Draw the draw pile from its top edge downwards: backs and their number.
 *
 * @param {number} count
 * @param {number} width
 * @param {number} height
 */
export function drawnBack(count, width, height) {
  const rx = round(width * 0.12);
  const layers = count > 20 ? 3 : count > 6 ? 2 : count > 0 ? 1 : 0;
  const backs = Array.from({ length: layers }, (_, k) => {
    const shift = (layers - 1 - k) * 3;
    return svg("rect", { class: "card-back-body", x: shift, y: shift, width, height, rx });
  });
  if (!layers) backs.push(svg("rect", { class: "spot-line", width, height, rx }));
  return svg(
    "g",
    { class: "drawn-pile", "data-draw-pile": count },
    ...backs,
    label("draw-count", count, width * 0.4, width / 2, height / 2),
  );
}

/**
 * Draw a stone tile with its value, its colour and what it gives, around the origin.
 *
 * @param {string} name
 * @param {string | undefined} gift
 * @param {number} width
 * @param {number} height
 */
export function stoneTile(name, gift, width, height) {
  const isWide = width > height * 1.5;
  const letter = letterOf(name);
  const size = height * (isWide ? 0.6 : 0.42);
  const digits = round(name.length > 2 ? size * 0.86 : size);
  const up = gift ? -0.18 : 0; // a gift needs room below
  const spots = isWide
    ? { value: [-0.31, 0], sign: [-0.03, 0], gift: [0.32, 0], radius: height * 0.31 }
    : { value: [-0.19, up], sign: [0.24, up], gift: [0, 0.25], radius: height * 0.19 };
  /** @type {(spot: number[]) => [number, number]} */
  const at = ([x, y]) => [round(x * width), round(y * height)];
  const outline = superellipse(width, height, 0.9);
  /** @type {SVGElement[]} */
  const parts = [
    svg("path", { class: `tile-stone fill-${letter} edge-${letter}`, d: outline }),
    label(`tile-value ink-${letter}`, name.slice(1), digits, ...at(spots.value)),
    symbol(SYMBOL_NAMES[letter], round(size * 0.8), ...at(spots.sign), { class: `ink-${letter}` }),
  ];
  if (gift) parts.push(giftBadge(gift, at(spots.gift), spots.radius));
  return svg("g", { class: "stone-tile", "data-tile": name }, ...parts);
}

/**
 * Draw the back of a stone tile; what the tile at this place gives is no secret.
 *
 * @param {string} gift
 * @param {number} width
 * @param {number} height
 */
export function stoneTileBack(gift, width, height) {
  const size = round(Math.min(width, height) * 0.42);
  const sign = /^\d+$/.test(gift)
    ? label("tile-back-points", `+${gift}`, size)
    : symbol(gift || "joker", round(size * (gift ? 1 : 0.8)), 0, 0, { class: "tile-back-sign" });
  return svg(
    "g",
    { class: "tile-back" },
    svg("path", { class: "tile-back-body", d: superellipse(width, height, 0.9) }),
    sign,
  );
}

/**
 * @param {string} gift
 * @param {[number, number]} place
 * @param {number} radius
 */
function giftBadge(gift, [x, y], radius) {
  const sign = /^\d+$/.test(gift)
    ? label("badge-points", `+${gift}`, radius * 1.24, x, y)
    : symbol(gift, round(radius * 1.5), x, y, { class: "badge-sign" });
  return svg("g", { class: "gift" }, svg("circle", { class: "badge-body", cx: x, cy: y, r: round(radius) }), sign);
}
