// @ts-check
// The narrator's English.

/** @type {Record<Views.Letter, string>} */
const COLOURS = { R: "red", Y: "yellow", V: "violet", G: "green", B: "blue", P: "points" };

/** @param {number} number */
function points(number) {
  return `${number} ${number === 1 ? "point" : "points"}`;
}

/**
 * @param {Views.Letter} letter
 * @param {string} cards
 */
function row(letter, cards) {
  return `the ${COLOURS[letter]} row (${cards})`;
}

/**
 * @param {string} sign
 * @param {boolean} isAgain
 */
function gift(sign, isAgain) {
  if (sign === "wish") return ", a wish stone";
  if (sign === "clover") return isAgain ? ", a clover: another turn" : ", a clover too late";
  return sign ? `, ${sign} bonus ${sign === "1" ? "point" : "points"}` : "";
}

/** @param {string} card */
function cardName(card) {
  return card.endsWith("E") ? "an end card" : card;
}

/** @type {Words.Narrator} */
export const ENGLISH = {
  // A sentence may begin with what a figure does, not the player.
  between: (isFigure) => (isFigure ? ": " : " "),
  and: " and ",
  way: (from, to) => `chooses the way from ${from ?? "the start"} to ${to}`,
  lay: (card, letter, cards) => `lays ${cardName(card)} in ${row(letter, cards)}`,
  add: (card, letter, cards) => `adds ${cardName(card)} in ${row(letter, cards)}`,
  discard: (card) => `discards ${card}`,
  pair: (first, second, stone) => `discards the pair ${first} ${second} for wish stone ${stone}`,
  draw: (card) => (card ? `draws ${card}` : "draws a card"),
  takeCard: (card, letter) => `takes ${card} from the ${COLOURS[letter]} pile`,
  takeTile: (tile, letter, cards, sign, isAgain) =>
    `takes ${tile} from the middle into ${row(letter, cards)}${gift(sign, isAgain)}`,
  reveal: (tile) => `reveals ${tile}`,
  keep: (tile, letter, cards, sign, isAgain) => `keeps ${tile} in ${row(letter, cards)}${gift(sign, isAgain)}`,
  leave: (tile) => `leaves ${tile} in the middle`,
  dropNothing: "drops nothing",
  dropHand: (card) => `drops ${card} from the hand`,
  dropRow: (card, letter) => `drops ${card} from the ${COLOURS[letter]} row`,
  stay: "leaves the clover unused",
  addNone: "adds no card",
  addNoMore: "adds no more",
  pass: "passes",
  stone: (letter, number) => `${COLOURS[letter]} stone ${number}`,
  step: (isBig, isNew, field, inGoal, of) =>
    `${isBig ? "the big figure" : "a small figure"} ${isNew ? "enters" : "steps to"} ${field}` +
    (inGoal ? `, the goal area (${inGoal} of ${of})` : ""),
  scores: (number) => `scores ${points(number)}`,
  takesWish: (letter) => (letter ? `takes a ${COLOURS[letter]} wish stone` : "takes a wish stone"),
  findsClover: "finds a clover",
  over: " The game is over.",
  ends: (why) => ` The game ends: ${why}.`,
  nearsEnd: (why) => ` The end is near: ${why}; everybody may add two cards.`,
  endings: {
    figures: "the fifth figure has entered the goal area",
    "end cards": "five rows have an end card",
    "last card": "the last card of the draw pile is drawn",
    "last tile": "the last tile is revealed",
    "turn limit": "the turn limit is reached",
  },
};
