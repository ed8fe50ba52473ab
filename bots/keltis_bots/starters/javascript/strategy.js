"use strict";
// What the bot chooses: it lays cards that skip few numbers.

// What a decision is worth that neither lays nor discards a card; all others are worth nothing.
const WORTH = {
  pair: 90, move: 60, clover: 60, done: 31, reveal: 25, leave: 18, draw: 10, keep: 5,
};
const LAYS = ["lay", "add", "take", "last"];

/** Return one of `request.legal`. Change this. */
function choose(game, request) {
  const worths = request.notation.map((text) => worth(text, request.view, game.seat));
  return request.legal[worths.indexOf(Math.max(...worths))];
}

/** Say what an action is worth, by its notation. */
function worth(text, view, seat) {
  let words = text.split(" ");
  if (text === "keep" && view.phase === "revealed") words = ["take", view.revealed];
  const [verb, card = ""] = words;
  const lays = LAYS.includes(verb);
  if (card.length < 2 || !(lays || verb === "discard")) {
    // Figures that are on their way move before those at the start.
    return (WORTH[verb] ?? 0) - (card.startsWith("start") ? 5 : 0);
  }
  const colour = words.at(-1)[0]; // of the row: "lay R7", "lay P7 on R"
  const skips = colour === "P" ? 3 : skipped(view.rows[seat][colour], card);
  return lays ? 50 - 5 * skips : 10 + skips;
}

/** Return how many numbers a card skips in a row; the first card of a row costs 4 more. */
function skipped(row, card) {
  const isEnd = card.endsWith("E");
  if (row.length && row.at(-1).endsWith("E")) return isEnd ? 0 : 9;
  if (isEnd) return row.length >= 4 ? 0 : 9;
  const value = Number(card.slice(1));
  if (!row.length) return 4 + Math.min(value, 10 - value);
  return Math.abs(value - Number(row.at(-1).slice(1)));
}

module.exports = { choose };
