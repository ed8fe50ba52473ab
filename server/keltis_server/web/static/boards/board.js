// @ts-check
// Boards of all games: whoever draws a game draws it from here.

import { describe } from "./describe.js";
import { KartenspielBoard } from "./kartenspiel.js";
import { KeltisBoard } from "./keltis.js";
import { NeueWegeBoard } from "./neue-wege.js";
import { html, mayMove } from "./svg.js";
import { WegDerSteineBoard } from "./weg-der-steine.js";
import { wordsOf } from "./words.js";

export { figureIcon } from "./pieces.js";
export { createPlayers } from "./players.js";

/** @type {Record<Views.Variant, new (wanted: Drawing.Wanted) => Drawing.Table>} */
const BOARDS = {
  keltis: KeltisBoard,
  "neue-wege": NeueWegeBoard,
  kartenspiel: KartenspielBoard,
  "weg-der-steine": WegDerSteineBoard,
};

export const VARIANTS = Object.keys(BOARDS);

const NARROW = 560; // pixels: below, tables of cards and tiles are arranged for a phone
const HAVE_NARROW_FORM = new Set(["kartenspiel", "weg-der-steine"]);

/**
 * Make the board of a game.
 *
 * `show(view)` draws a view; what is the same as before is left alone. With `animate` figures walk
 * and cards slide, unless the reader prefers stillness. With `previous`, the view before the last
 * decision, the drawing marks what it changed. `describe(view)` says it in sentences.
 *
 * @param {Views.Variant} variant
 * @param {{players: number, names?: string[], small?: boolean, language?: string}} wanted
 */
export function createBoard(variant, { players, names, small = false, language = "en" }) {
  const words = wordsOf(language);
  const called = names ?? Array.from({ length: players }, (_, seat) => words.seat(seat));
  const title = words.titles[variant];
  const element = html("div", { class: "board-frame", role: "img", "aria-label": title });
  /** @type {Drawing.Form} */
  let form;
  /** @type {Drawing.Table} */
  let board;
  /** @type {{view: Views.View, previous: Views.View | null} | undefined} */
  let last; // what was shown last, for when the board is arranged anew

  /** @param {Drawing.Form} wanted */
  function arrange(wanted) {
    if (wanted === form) return;
    form = wanted;
    board = new BOARDS[variant]({ players, names: called, form, words });
    element.replaceChildren(board.element);
    if (last) board.show(last.view, { moving: false, previous: last.previous });
  }

  if (small) arrange("small");
  else if (HAVE_NARROW_FORM.has(variant)) {
    const formFor = (/** @type {number} */ width) => (width < NARROW ? "narrow" : "large");
    arrange(formFor(globalThis.innerWidth));
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width) arrange(formFor(entry.contentRect.width));
    }).observe(element);
  } else arrange("large");

  return {
    element,
    /**
     * @param {Views.View} view
     * @param {Drawing.Shown} [how]
     */
    show(view, { animate = false, previous = null } = {}) {
      last = { view, previous };
      board.show(view, { moving: animate && mayMove(), previous });
    },
    /** @param {Views.View} view */
    describe(view) {
      return describe(view, called, words);
    },
  };
}
