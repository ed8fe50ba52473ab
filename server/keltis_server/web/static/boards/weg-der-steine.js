// @ts-check
// The table of `weg-der-steine`: all 55 tiles on a grid, a line for each colour.
//
// A tile lies where its colour and value belong: face up, face down, or gone into somebody's row.
// Which tiles are face down follows from those that are not.

import { DATA } from "./data.js";
import { Memory } from "./memory.js";
import { superellipse } from "./paths.js";
import { figure, stoneTile, stoneTileBack } from "./pieces.js";
import { Stage } from "./stage.js";
import { label, round, svg } from "./svg.js";
import { LETTERS, SYMBOL_NAMES, symbol } from "./symbols.js";

const VALUES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const TILES = LETTERS.flatMap((letter) => VALUES.map((value) => `${letter}${value}`));

// Where there is little room the table stands upright: a column for each colour.
const LARGE = {
  left: 46,
  top: 34,
  right: 8,
  step: { x: 77, y: 80 },
  tile: { width: 68, height: 70 },
  head: 17,
  jitter: 1,
};
const SMALL = {
  left: 34,
  top: 34,
  right: 4,
  step: { x: 92, y: 47 },
  tile: { width: 86, height: 42 },
  head: 20,
  jitter: 0.4,
};

export class WegDerSteineBoard {
  #shown = new Memory();

  /** @param {Drawing.Wanted} wanted */
  constructor({ form }) {
    const small = form !== "large"; // on a phone, too
    this.size = small ? SMALL : LARGE;
    this.small = small;
    const { left, top, step, right } = this.size;
    const counts = [VALUES.length, LETTERS.length];
    const [across, down] = small ? counts.reverse() : counts;
    const [width, height] = [left + across * step.x + right, top + down * step.y + 6];
    this.stage = new Stage("weg-der-steine", width, height, small);
    this.element = this.stage.element;
    this.stage.back.append(...this.#labels());
    this.tiles = this.stage.layer("tiles");
  }

  /** @param {string} tile */
  #place(tile) {
    const { left, top, step, jitter } = this.size;
    const colour = LETTERS.indexOf(/** @type {Views.Colour} */ (tile[0]));
    const value = Number(tile.slice(1));
    const [column, row] = this.small ? [colour, value] : [value, colour];
    return {
      x: round(left + step.x * (column + 0.5) + scatter(tile, 1) * 3 * jitter),
      y: round(top + step.y * (row + 0.5) + scatter(tile, 2) * 3 * jitter),
    };
  }

  #labels() {
    const { left, top, step, head } = this.size;
    const along = (/** @type {number} */ k, /** @type {boolean} */ isAcross) =>
      isAcross ? [left + step.x * (k + 0.5), top * 0.56] : [left * 0.5, top + step.y * (k + 0.5)];
    return [
      ...LETTERS.map((letter, k) => {
        const [x, y] = along(k, this.small);
        return symbol(SYMBOL_NAMES[letter], head * 1.35, x, y, { class: `line-${letter}` });
      }),
      ...VALUES.map((value, k) => {
        const [x, y] = along(k, !this.small);
        return label("grid-label", value, head, x, y);
      }),
    ];
  }

  /**
   * @param {Views.WegDerSteine} view
   * @param {Drawing.How<Views.WegDerSteine>} how
   */
  show(view, { moving, previous }) {
    if (!this.#shown.isNew("tiles", view.rows, view.middle, view.revealed, previous?.rows)) return;
    const owners = ownersOf(view);
    const before = previous ? ownersOf(previous) : owners;
    const open = new Set(view.middle);
    this.tiles.show(
      TILES.map((tile) => {
        const state = tile === view.revealed ? "revealed" : open.has(tile) ? "open" : "down";
        const when = before.has(tile) ? "before" : "now";
        const look = owners.has(tile) ? `taken ${owners.get(tile)} ${when}` : state;
        return { key: tile, look, ...this.#place(tile), draw: () => this.#draw(tile, look) };
      }),
      moving,
    );
  }

  /**
   * @param {string} tile
   * @param {string} look
   */
  #draw(tile, look) {
    const { width, height } = this.size.tile;
    const turn = round(scatter(tile, 3) * 4 * this.size.jitter);
    const [kind, seat, when] = look.split(" ");
    const gift = DATA.symbols[tile];
    /** @type {SVGElement[]} */
    const parts = [];
    if (kind === "taken") parts.push(this.#gap(Number(seat)));
    else if (kind === "down") parts.push(stoneTileBack(gift ?? "", width, height));
    else parts.push(stoneTile(tile, gift, width, height)); // open, or just revealed
    if (kind === "revealed" || when === "now") {
      const outline = superellipse(width + 8, height + 8, 0.9);
      parts.push(svg("path", { class: "ring ring-to", d: outline }));
    }
    const node = svg("g", { transform: `rotate(${turn})` }, ...parts);
    return svg("g", { class: `place place-${kind}`, "data-place": tile, "data-state": kind }, node);
  }

  /**
   * Where a tile was that somebody has taken.
   *
   * @param {number} seat
   */
  #gap(seat) {
    const { width, height } = this.size.tile;
    const scale = this.small ? 0.9 : 1;
    return svg(
      "g",
      { class: "gap" },
      svg("path", { class: "spot-line", d: superellipse(width - 8, height - 8, 0.9) }),
      svg("g", { transform: `translate(0 ${round(13 * scale)})` }, figure(seat, false, scale)),
    );
  }
}

/**
 * Which seat has which tiles in its rows.
 *
 * @param {Views.WegDerSteine} view
 */
function ownersOf(view) {
  const owners = new Map();
  view.rows.forEach((rows, seat) => {
    for (const row of Object.values(rows)) for (const tile of row) owners.set(tile, seat);
  });
  return owners;
}

/**
 * A number between -1 and 1 that is always the same for a tile: nothing lies quite straight.
 *
 * @param {string} tile
 * @param {number} salt
 */
function scatter(tile, salt) {
  let hash = salt * 7919;
  for (const letter of tile) hash = (hash * 31 + letter.charCodeAt(0) * 17) % 10007;
  return (hash / 10007) * 2 - 1;
}
