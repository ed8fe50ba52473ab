// @ts-check
// The board of `keltis`: five paths side by side, the start at the bottom.

import { DATA } from "./data.js";
import { Figures, rings } from "./figures.js";
import { Memory } from "./memory.js";
import { goalArea, goalGround, goalPegs, rowValue, startStone, stones, tiles } from "./scenery.js";
import { Stage } from "./stage.js";
import { svg } from "./svg.js";
import { LETTERS } from "./symbols.js";

const { stones: STONES, values: VALUES, goal: GOAL, tiles: TILES } = DATA.paths;

/** @type {Drawing.Measures} */
const LARGE = {
  left: 66,
  top: 78,
  column: 116,
  row: 80,
  right: 14,
  stone: { width: 102, height: 60 },
  end: { width: 110, height: 76 },
  tile: 20,
  figure: 1.14,
  value: 22,
  start: 78,
  word: 17,
  edge: 22,
};
/** @type {Drawing.Measures} */
const SMALL = {
  left: 46,
  top: 72,
  column: 90,
  row: 58,
  right: 6,
  stone: { width: 84, height: 48 },
  end: { width: 88, height: 58 },
  tile: 17.5,
  figure: 0.98,
  value: 22,
  start: 66,
  word: 20,
  edge: 17,
};

export class KeltisBoard {
  #shown = new Memory();

  /** @param {Drawing.Wanted} wanted */
  constructor({ players, form, words }) {
    this.words = words;
    const small = form === "small";
    const size = (this.size = small ? SMALL : LARGE);
    const { left, top, column, row, right } = size;
    const width = left + column * LETTERS.length + right;
    const last = top + row * (STONES - 1);
    const start = {
      x: left + (column * LETTERS.length) / 2,
      y: last + row * 0.62 + size.start / 2,
      width: column * LETTERS.length - 6,
      height: size.start,
    };
    const height = start.y + size.start / 2 + 8;
    this.place = (/** @type {string} */ field) => ({
      x: left + column * (LETTERS.indexOf(/** @type {Views.Colour} */ (field[0])) + 0.5),
      y: top + row * (STONES - Number(field.slice(1))),
    });
    this.stage = new Stage("keltis", width, height, small);
    this.element = this.stage.element;
    this.goal = goalArea(size, width, GOAL.length);
    this.stage.back.append(...this.#ground(), ...this.#paths(start), ...this.#stones(start));
    this.pegs = this.stage.layer("goal-pegs");
    this.rings = this.stage.layer("rings");
    this.tiles = this.stage.layer("tiles");
    this.figures = this.stage.layer("figures");
    this.cast = new Figures(players, {
      place: this.place,
      stone: size.stone,
      start,
      scale: size.figure,
    });
  }

  #ground() {
    const { top, row, left, value, word, edge } = this.size;
    const values = VALUES.map((worth, k) => rowValue(worth, left - edge, top + row * (STONES - 1 - k), value));
    return [goalGround(this.goal, word, this.words), ...values];
  }

  /** @param {Drawing.Box} start */
  #paths(start) {
    const ways = LETTERS.map((letter) => {
      const foot = this.place(`${letter}1`);
      const head = this.place(`${letter}${STONES}`);
      const from = start.x + (foot.x - start.x) * 0.8;
      const bend = (start.y + foot.y) / 2;
      return `M${from} ${start.y}C${from} ${bend} ${foot.x} ${bend} ${foot.x} ${foot.y}V${head.y}`;
    });
    return [svg("path", { class: "way", d: ways.join("") })];
  }

  /** @param {Drawing.Box} start */
  #stones(start) {
    const all = LETTERS.flatMap((letter) =>
      VALUES.map((_, k) => {
        const field = `${letter}${k + 1}`;
        const isEnd = k + 1 === STONES;
        /** @type {Drawing.Stone["kind"]} */
        const kind = isEnd ? "end" : TILES.includes(field) ? "dark" : "light";
        return { ...this.place(field), ...(isEnd ? this.size.end : this.size.stone), letter, kind };
      }),
    );
    return [startStone(start, this.size.word, this.words.start), stones(all)];
  }

  /**
   * @param {Views.Keltis} view
   * @param {Drawing.How<Views.Keltis>} how
   */
  show(view, { moving, previous }) {
    const { tile, word, stone: shape, end } = this.size;
    const shown = this.#shown;
    if (shown.isNew("goal", view.in_goal)) this.pegs.show(goalPegs(view, this.goal, word), moving);
    const shapeOf = (/** @type {string} */ field) => (Number(field.slice(1)) === STONES ? end : shape);
    this.rings.show(rings(view, previous, this.place, shapeOf), false);
    if (shown.isNew("tiles", view.tiles)) this.tiles.show(tiles(view, this.place, tile), moving);
    if (shown.isNew("figures", view.figures)) this.figures.show(this.cast.pieces(view), moving);
  }
}
