// @ts-check
// The board of `neue-wege`: ten rows of fields, joined by ways that part and meet.

import { DATA } from "./data.js";
import { Figures, rings } from "./figures.js";
import { Memory } from "./memory.js";
import { stack as drawnStack } from "./pieces.js";
import { goalArea, goalGround, goalPegs, rowValue, startStone, stones, tiles } from "./scenery.js";
import { Stage } from "./stage.js";
import { svg } from "./svg.js";

const { fields: FIELDS, edges: EDGES, columns: COLUMNS } = DATA.network;
const BY_NAME = Object.fromEntries(FIELDS.map((field) => [field.name, field]));
const ROWS = Math.max(...FIELDS.map((field) => field.row));
const GOAL_ROWS = new Set(FIELDS.filter((field) => field.goal).map((field) => field.row)).size;

/** @type {Drawing.Measures} */
const LARGE = {
  left: 66,
  top: 72,
  column: 116,
  row: 79,
  right: 14,
  stone: { width: 98, height: 56 },
  end: { width: 104, height: 66 },
  tile: 19,
  figure: 1.1,
  value: 22,
  start: 76,
  word: 17,
  edge: 22,
};
/** @type {Drawing.Measures} */
const SMALL = {
  left: 46,
  top: 66,
  column: 90,
  row: 55,
  right: 6,
  stone: { width: 82, height: 44 },
  end: { width: 86, height: 50 },
  tile: 16.5,
  figure: 0.9,
  value: 22,
  start: 60,
  word: 20,
  edge: 17,
};

export class NeueWegeBoard {
  #shown = new Memory();

  /** @param {Drawing.Wanted} wanted */
  constructor({ players, form, words }) {
    this.words = words;
    const small = form === "small";
    const size = (this.size = small ? SMALL : LARGE);
    const { left, top, column, row, right } = size;
    const width = left + column * COLUMNS + right;
    const start = {
      x: left + (column * COLUMNS) / 2,
      y: top + row * (ROWS - 1) + row * 0.62 + size.start / 2,
      width: column * COLUMNS - 6,
      height: size.start,
    };
    const places = Object.fromEntries(
      FIELDS.map((field) => [field.name, { x: left + column * (field.x + 0.5), y: top + row * (ROWS - field.row) }]),
    );
    this.start = start;
    this.place = (/** @type {string} */ name) => places[name];
    this.stage = new Stage("neue-wege", width, start.y + size.start / 2 + 8, small);
    this.element = this.stage.element;
    this.goal = goalArea(size, width, GOAL_ROWS);
    this.stage.back.append(...this.#ground(), ...this.#ways(), ...this.#stones());
    this.pegs = this.stage.layer("goal-pegs");
    this.rings = this.stage.layer("rings");
    this.tiles = this.stage.layer("tiles");
    this.stacks = this.stage.layer("stacks");
    this.figures = this.stage.layer("figures");
    this.cast = new Figures(players, {
      place: this.place,
      stone: size.stone,
      start,
      scale: size.figure,
    });
  }

  /** @param {string} name */
  #shape(name) {
    return BY_NAME[name].row === ROWS ? this.size.end : this.size.stone;
  }

  #ground() {
    const { top, row, left, value, word, edge } = this.size;
    const worth = new Map(FIELDS.map((field) => [field.row, field.value]));
    const values = [...worth].map(([k, points]) => rowValue(points, left - edge, top + row * (ROWS - k), value));
    return [goalGround(this.goal, word, this.words), ...values];
  }

  #ways() {
    const ways = EDGES.map(([source, target]) => {
      const to = this.place(target);
      const from = source === "start" ? { x: to.x, y: this.start.y } : this.place(source);
      const bend = (from.y + to.y) / 2;
      return `M${from.x} ${from.y}C${from.x} ${bend} ${to.x} ${bend} ${to.x} ${to.y}`;
    });
    return [svg("path", { class: "way", d: ways.join("") })];
  }

  #stones() {
    const all = FIELDS.map(({ name, row, tile, stack, colour }) => {
      /** @type {Drawing.Stone["kind"]} */
      const kind = row === ROWS ? "end" : tile || stack ? "dark" : "light";
      return { ...this.place(name), ...this.#shape(name), letter: colour, kind };
    });
    return [startStone(this.start, this.size.word, this.words.start), stones(all)];
  }

  /**
   * @param {Views.NeueWege} view
   * @param {Drawing.How<Views.NeueWege>} how
   */
  show(view, { moving, previous }) {
    const { tile, word } = this.size;
    const shown = this.#shown;
    if (shown.isNew("goal", view.in_goal)) this.pegs.show(goalPegs(view, this.goal, word), moving);
    this.rings.show(
      rings(view, previous, this.place, (name) => this.#shape(name)),
      false,
    );
    if (shown.isNew("tiles", view.tiles)) this.tiles.show(tiles(view, this.place, tile), moving);
    if (shown.isNew("stacks", view.stacks)) this.stacks.show(this.#stacks(view), moving);
    if (shown.isNew("figures", view.figures)) this.figures.show(this.cast.pieces(view), moving);
  }

  /** @param {Views.NeueWege} view */
  #stacks(view) {
    return Object.entries(view.stacks)
      .filter(([, count]) => count > 0)
      .map(([field, count]) => ({
        key: field,
        look: `${count}`,
        ...this.place(field),
        field,
        draw: () => drawnStack(BY_NAME[field].colour, count, this.size.tile),
      }));
  }
}
