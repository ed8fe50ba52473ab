// @ts-check
// A view in sentences, for those who do not see the drawing.

import { DATA } from "./data.js";
import { LETTERS } from "./symbols.js";
import { doing } from "./words.js";

/**
 * Say how things stand: whose turn it is, and what lies where.
 *
 * @param {Views.View} view
 * @param {string[]} names
 * @param {Words.Boards} words
 */
export function describe(view, names, words) {
  const told = [`${words.titles[view.variant]}.`, `${words.turn(view.turn)}.`];
  if (view.phase === "over") told.push(words.over);
  else told.push(words.toDecide(names[view.seat], doing(words, view)));
  const scores = names.map((name, seat) => `${name}: ${words.points(view.scores[seat])}`);
  told.push(`${scores.join(", ")}.`);
  if (view.figures) told.push(...figures(view, names, words));
  if (view.wish_row) told.push(words.openStones(view.wish_row.join(", ")));
  if (view.middle) told.push(...tiles(view, words));
  else told.push(words.left(view.pile.size), piles(view, words));
  names.forEach((name, seat) => told.push(words.rowsOf(name, rows(view, seat, words))));
  return told.join(" ");
}

/**
 * @param {Views.OnBoard} view
 * @param {string[]} names
 * @param {Words.Boards} words
 */
function figures(view, names, words) {
  const sentences = view.figures.map((own, seat) => {
    /** @type {[field: string, say: (place: string) => string][]} */
    const all = [[own.big, words.bigAt]];
    for (const field of own.small) all.push([field, words.smallAt]);
    const away = all.filter(([field]) => field !== "start");
    const places = away.map(([field, say]) => say(fieldName(view.variant, field, words)));
    const waiting = all.length - away.length;
    if (waiting) places.push(words.atStart(waiting));
    return words.figuresAt(names[seat], places.join(", "));
  });
  return [...sentences, words.inGoal(view.in_goal, DATA.goalFigures)];
}

/**
 * What to call a field; on the paths by colour, so that no one takes it for a card.
 *
 * @param {Views.Variant} variant
 * @param {string} field
 * @param {Words.Boards} words
 */
export function fieldName(variant, field, words) {
  if (variant !== "keltis") return field;
  return words.stone(words.colours[/** @type {Views.Colour} */ (field[0])], field.slice(1));
}

/**
 * @param {Views.WegDerSteine} view
 * @param {Words.Boards} words
 */
function tiles(view, words) {
  const told = [words.leftTiles(view.pile.size), words.middle(view.middle.join(", "))];
  if (view.revealed !== null) told.push(words.revealed(view.revealed));
  return told;
}

/**
 * @param {Views.WithCards & {piles: Record<string, string[]>}} view
 * @param {Words.Boards} words
 */
function piles(view, words) {
  const tops = Object.entries(view.piles)
    .filter(([, cards]) => cards.length)
    .map(([letter, cards]) => {
      const closed = view.closed.includes(/** @type {Views.Letter} */ (letter)) ? ` (${words.closed})` : "";
      return `${cards.at(-1)}${closed}`;
    });
  return words.discards(tops.join(", "));
}

/**
 * @param {Views.View} view
 * @param {number} seat
 * @param {Words.Boards} words
 */
function rows(view, seat, words) {
  const told = LETTERS.filter((letter) => view.rows[seat][letter].length).map(
    (letter) => `${words.colours[letter]} ${values(view.rows[seat][letter])}`,
  );
  if (view.points_rows?.[seat].length) {
    told.push(`${words.pointsRow} ${values(view.points_rows[seat])}`);
  }
  return told.join("; ");
}

/** @param {string[]} cards */
function values(cards) {
  return cards.map((card) => card.slice(1)).join(" ");
}
