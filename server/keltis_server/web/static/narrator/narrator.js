// @ts-check
// Tells a game in sentences, one for each decision, in English and German.
//
// A narrator sees two views by the same onlooker, before and after a decision, and its notation.
// So it cannot tell more than that onlooker may know.

import { DATA } from "../boards/data.js";
import { ways } from "../boards/figures.js";
import { LETTERS } from "../boards/symbols.js";
import { ENGLISH } from "./english.js";
import { GERMAN } from "./german.js";

/**
 * A decision as an onlooker saw it.
 *
 * @typedef {{notation: string, before: Views.View, after: Views.View}} Step
 */

/** @type {Record<string, Words.Narrator>} */
const TONGUES = { en: ENGLISH, de: GERMAN };

/**
 * Say in a sentence what a seat decided.
 *
 * The sentence begins with the player's name and ends with why the game ends, if it does.
 *
 * @param {Step & {name: string, language?: string}} decision
 */
export function narrate({ notation, name, before, after, language = "en" }) {
  const tongue = TONGUES[language] ?? ENGLISH;
  const told = clauses({ notation, before, after }, tongue);
  const start = name + tongue.between(told[0].isFigure);
  const texts = told.map(({ text }) => text).join("; ");
  return `${start}${texts}.${closing(before, after, tongue)}`;
}

/**
 * What a decision did, in the order in which it happened: {text, isFigure}.
 *
 * @param {Step} step
 * @param {Words.Narrator} tongue
 */
function clauses(step, tongue) {
  const { before, after } = step;
  const told = [];
  const choice = said(step, tongue);
  if (choice) told.push({ text: choice, isFigure: false });
  if (before.figures && after.figures) {
    const way = moved(before, after, tongue);
    if (way) told.push({ text: way, isFigure: true });
  }
  if (!told.length) told.push({ text: chosen(step.notation, tongue), isFigure: false });
  return told;
}

/**
 * What the player chose, as far as the choice itself is worth telling.
 *
 * @param {Step} step
 * @param {Words.Narrator} tongue
 */
function said({ notation, before, after }, tongue) {
  const [verb, first, second, third] = notation.split(" ");
  const { seat } = before;
  const isTiles = before.variant === "weg-der-steine";
  const revealed = before.revealed ?? "";
  switch (verb) {
    case "lay":
    case "add":
      return tongue[verb](...laid(first, letterOf(second === "on" ? third : first), after, seat));
    case "discard":
      return tongue.discard(first);
    case "pair":
      return tongue.pair(first, second, first.slice(1));
    case "draw":
      return tongue.draw(drawn(before, after, seat));
    case "take":
      if (!isTiles) return tongue.takeCard(topOf(before.piles, letterOf(first)), letterOf(first));
      return tongue.takeTile(first, ...gained(first, after, seat));
    case "last":
      return tongue.takeTile(first, ...gained(first, after, seat));
    case "reveal":
      return tongue.reveal(after.revealed ?? "");
    case "keep":
      if (!isTiles) return tongue.dropNothing;
      return tongue.keep(revealed, ...gained(revealed, after, seat));
    case "leave":
      return tongue.leave(revealed);
    case "drop":
      if (first === "hand") return tongue.dropHand(second);
      return tongue.dropRow(topOf(before.rows[seat], letterOf(second)), /** @type {Views.Colour} */ (second));
    case "stay":
      return tongue.stay;
    case "done":
      return before.final_cards === 2 ? tongue.addNone : tongue.addNoMore;
    case "pass":
      return tongue.pass;
    default: // big, small, move and clover: the figure's way tells it
      return "";
  }
}

/**
 * The letter of a card, a pile or a row.
 *
 * @param {string} name
 */
function letterOf(name) {
  return /** @type {Views.Letter} */ (name[0]);
}

/**
 * The last card of a row or a pile.
 *
 * @param {Partial<Record<Views.Letter, string[]>> | undefined} stacks
 * @param {Views.Letter} letter
 */
function topOf(stacks, letter) {
  return stacks?.[letter]?.at(-1) ?? "";
}

/**
 * A way that was chosen; which figure takes it is said next.
 *
 * @param {string} notation
 * @param {Words.Narrator} tongue
 */
function chosen(notation, tongue) {
  const [from, to] = notation.split(" ")[1].split("-");
  return tongue.way(from === "start" ? null : from, to);
}

/**
 * The card laid, its row's letter, and the row as it is now.
 *
 * @param {string} card
 * @param {Views.Letter} letter
 * @param {Views.View} after
 * @param {number} seat
 * @returns {[string, Views.Letter, string]}
 */
function laid(card, letter, after, seat) {
  const row = letter === "P" ? after.points_rows?.[seat] : after.rows[seat][letter];
  return [card, letter, row?.join(" ") ?? ""];
}

/**
 * The card drawn, if the onlooker sees that hand.
 *
 * @param {Views.View} before
 * @param {Views.View} after
 * @param {number} seat
 */
function drawn(before, after, seat) {
  const cards = after.hands?.[seat].cards;
  const had = before.hands?.[seat].cards?.slice();
  if (!cards || !had) return null;
  const found = cards.find((card) => {
    const k = had.indexOf(card);
    if (k >= 0) had.splice(k, 1);
    return k < 0;
  });
  return found ?? null;
}

/**
 * The row a tile came into, and what its symbol gives.
 *
 * @param {string} tile
 * @param {Views.View} after
 * @param {number} seat
 * @returns {[Views.Colour, string, string, boolean]}
 */
function gained(tile, after, seat) {
  const isAgain = after.seat === seat && after.phase !== "over";
  const letter = /** @type {Views.Colour} */ (tile[0]);
  return [letter, after.rows[seat][letter].join(" "), DATA.symbols[tile] ?? "", isAgain];
}

/**
 * How a figure moved and what it found, if one did.
 *
 * @param {Views.Keltis | Views.NeueWege} before
 * @param {Views.Keltis | Views.NeueWege} after
 * @param {Words.Narrator} tongue
 */
function moved(before, after, tongue) {
  const { seat, variant } = before;
  const way = ways(before, after).find((found) => found.seat === seat);
  if (!way) return "";
  const isBig = before.figures[seat].big !== after.figures[seat].big;
  const inGoal = after.in_goal > before.in_goal ? after.in_goal : 0;
  const field = variant === "keltis" ? tongue.stone(/** @type {Views.Colour} */ (way.to[0]), way.to.slice(1)) : way.to;
  const found = [];
  const points = after.points[seat] - before.points[seat];
  if (points) found.push(tongue.scores(points));
  const stone = wishTaken(before.wish_stones[seat], after.wish_stones[seat]);
  if (stone) found.push(tongue.takesWish(stone === true ? null : stone));
  if (after.phase === "clover") found.push(tongue.findsClover);
  const step = tongue.step(isBig, way.from === "start", field, inGoal, DATA.goalFigures);
  return [step, ...found].join(tongue.and);
}

/**
 * Which wish stone came to a seat: its letter, true where they have no colour, or null.
 *
 * @param {number | Record<Views.Colour, number>} before
 * @param {number | Record<Views.Colour, number>} after
 */
function wishTaken(before, after) {
  if (typeof before === "number" || typeof after === "number") return before === after ? null : true;
  return LETTERS.find((letter) => after[letter] > before[letter]) ?? null;
}

/**
 * Why the game ends, if this decision ends it.
 *
 * @param {Views.View} before
 * @param {Views.View} after
 * @param {Words.Narrator} tongue
 */
function closing(before, after, tongue) {
  const why = after.ending === null ? "" : tongue.endings[after.ending];
  if (after.phase === "over") return before.phase === "final" ? tongue.over : tongue.ends(why);
  if (after.phase === "final" && before.phase !== "final") return tongue.nearsEnd(why);
  return "";
}
