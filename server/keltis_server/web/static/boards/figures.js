// @ts-check
// Figures on a board: where each stands, and which is which from one view to the next.

import { superellipse } from "./paths.js";
import { figure } from "./pieces.js";
import { round, svg } from "./svg.js";

const FIGURES = 5; // for each seat: the big one, then four small ones

// Beside the tile in the middle of a stone each player has a spot of his own, in widths and heights of the
// stone; where two share a side, one stands behind the other.
/** @type {Record<number, [number, number][]>} */
const SPOTS = {
  2: [
    [-0.37, 0.3],
    [0.37, 0.3],
  ],
  3: [
    [-0.4, 0.36],
    [-0.33, -0.08],
    [0.37, 0.3],
  ],
  4: [
    [-0.4, 0.36],
    [-0.33, -0.08],
    [0.33, -0.08],
    [0.4, 0.36],
  ],
};
const STEP_UP = 6; // between figures of one player on one field
const STEP_IN = 8;

/**
 * A figure of a seat: its field, its key, and whether it is the big one.
 *
 * @typedef {[field: string, key: string, isBig: boolean]} Own
 */

/**
 * @typedef {object} Geometry
 * @property {(field: string) => Drawing.Place} place
 * @property {Drawing.Size} stone
 * @property {Drawing.Place & {width: number}} start
 * @property {number} scale
 */

export class Figures {
  /** @type {string[][]} */
  #fields = []; // by seat: where its small figures stand, by their number
  /** @type {Geometry} */
  #geometry;

  /**
   * @param {number} players
   * @param {Geometry} geometry
   */
  constructor(players, geometry) {
    this.players = players;
    this.#geometry = geometry;
  }

  /**
   * The pieces of all figures, those further down in front.
   *
   * @param {Views.OnBoard} view
   */
  pieces(view) {
    /** @type {Drawing.Piece[]} */
    const pieces = [];
    view.figures.forEach((figures, seat) => {
      this.#fields[seat] = follow(this.#fields[seat], figures.small);
      /** @type {Own[]} */
      const own = [[figures.big, `${seat}b`, true]];
      this.#fields[seat].forEach((field, k) => own.push([field, `${seat}s${k}`, false]));
      pieces.push(...this.#placed(seat, own));
    });
    return pieces.sort((a, b) => a.y - b.y || a.x - b.x);
  }

  /**
   * @param {number} seat
   * @param {Own[]} own
   * @returns {Drawing.Piece[]}
   */
  #placed(seat, own) {
    const { scale } = this.#geometry;
    const counts = new Map([["start", own[0][0] === "start" ? 0 : 1]]); // the big one's place waits
    return own.map(([field, key, isBig]) => {
      const k = counts.get(field) ?? 0;
      counts.set(field, k + 1);
      const { x, y } = field === "start" ? this.#atStart(seat, k) : this.#onField(field, seat, k);
      return {
        key,
        look: "figure",
        x: round(x),
        y: round(y),
        field,
        draw: () => marked(figure(seat, isBig, scale), seat, isBig),
      };
    });
  }

  /**
   * @param {number} seat
   * @param {number} k
   */
  #atStart(seat, k) {
    const { start, scale } = this.#geometry;
    const share = start.width / this.players;
    const step = Math.min(21 * scale, share / (FIGURES + 0.8));
    const left = start.x - start.width / 2 + share * (seat + 0.5) - (step * (FIGURES - 1)) / 2;
    return { x: left + step * k - (k === 0 ? 3 * scale : 0), y: start.y + 15 * scale };
  }

  /**
   * @param {string} field
   * @param {number} seat
   * @param {number} k
   */
  #onField(field, seat, k) {
    const { place, stone, scale } = this.#geometry;
    const middle = place(field);
    const [x, y] = SPOTS[this.players][seat];
    return {
      x: middle.x + x * stone.width - Math.sign(x) * k * STEP_IN * scale,
      y: middle.y + y * stone.height - k * STEP_UP * scale,
    };
  }
}

/**
 * @param {SVGElement} node
 * @param {number} seat
 * @param {boolean} isBig
 */
function marked(node, seat, isBig) {
  node.setAttribute("data-figure", String(seat));
  node.setAttribute("data-size", isBig ? "big" : "small");
  return node;
}

/**
 * Say which small figure stands where now: those whose field is still taken have not moved.
 *
 * @param {string[] | undefined} before
 * @param {string[]} fields
 */
function follow(before, fields) {
  if (!before) return [...fields];
  const left = [...fields];
  const now = before.map((field) => {
    const k = left.indexOf(field);
    return k < 0 ? undefined : left.splice(k, 1)[0];
  });
  return now.map((field) => field ?? left.shift() ?? "start");
}

/**
 * The fields that a figure left and reached between two views.
 *
 * @param {Views.OnBoard} previous
 * @param {Views.OnBoard} view
 */
export function ways(previous, view) {
  /** @type {{seat: number, from: string, to: string}[]} */
  const found = [];
  view.figures.forEach((figures, seat) => {
    const before = previous.figures[seat];
    if (before === figures) return;
    if (before.big !== figures.big) found.push({ seat, from: before.big, to: figures.big });
    const was = [...before.small];
    const now = figures.small.filter((field) => {
      const k = was.indexOf(field);
      if (k >= 0) was.splice(k, 1);
      return k < 0;
    });
    now.forEach((field, k) => found.push({ seat, from: was[k], to: field }));
  });
  return found;
}

/**
 * Rings around where figures came from and went to, and around the stone that one will enter. They do not move.
 *
 * @param {Views.OnBoard} view
 * @param {Views.OnBoard | null} previous
 * @param {(field: string) => Drawing.Place} place
 * @param {(field: string) => Drawing.Size} shape
 */
export function rings(view, previous, place, shape) {
  /** @type {Drawing.Piece[]} */
  const pieces = [];
  /** @type {(key: string, kind: string, field: string) => void} */
  const ring = (key, kind, field) => {
    const { x, y } = place(field);
    const { width, height } = shape(field);
    pieces.push({
      key,
      look: `${kind} ${width}`,
      x,
      y,
      draw: () => svg("path", { class: `ring ring-${kind}`, d: superellipse(width + 9, height + 9) }),
    });
  };
  if (previous?.figures) {
    ways(previous, view).forEach(({ from, to }, k) => {
      if (from !== "start") ring(`from${k}`, "from", from);
      if (to !== "start") ring(`to${k}`, "to", to); // a reader may also go back
    });
  }
  if (view.entering) ring("entering", "entering", view.entering.split("-")[1]);
  return pieces;
}
