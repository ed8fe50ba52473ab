// @ts-check
// The words on and about boards, in both languages.

/** @type {Words.Boards} */
const ENGLISH = {
  colours: { R: "red", Y: "yellow", V: "violet", G: "green", B: "blue", P: "points" },
  titles: {
    keltis: "Keltis",
    "neue-wege": "Neue Wege, Neue Ziele",
    kartenspiel: "Keltis, the card game",
    "weg-der-steine": "Der Weg der Steine",
  },
  seat: (seat) => `Seat ${seat}`,
  start: "start",
  goal: "goal",
  draw: "draw pile",
  faceDown: "face down",
  closed: "closed",
  hand: "Hand",
  removed: (n) => `${n} cards are out of the game`,
  cards: (n) => (n === 1 ? "1 card" : `${n} cards`),
  wishStones: (n) => (n === 1 ? "1 wish stone" : `${n} wish stones`),
  tilePoints: (n) => (n === 1 ? "1 point from tiles" : `${n} points from tiles`),
  bonus: (n) => (n === 1 ? "1 bonus point" : `${n} bonus points`),
  points: (n) => (Math.abs(n) === 1 ? `${n} point` : `${n} points`),
  pointsRow: "points row",
  row: (colour) => `${colour} row`,
  piles: "Piles",
  players: "Players",
  turn: (n) => `Turn ${n}`,
  over: "The game is over.",
  toDecide: (name, doing) => `${name} is ${doing}.`,
  phases: {
    turn: "to lay or discard",
    figure: "to choose a figure",
    move: "to move a figure",
    clover: "to use a clover",
    drop: "to drop a card",
    draw: "to draw",
    final: "to add final cards",
    revealed: "to take or leave it",
    "last-turn": "to take a last tile",
    reveal: "to reveal or take",
  },
  figuresAt: (name, places) => `${name}'s figures: ${places}.`,
  bigAt: (place) => `big on ${place}`,
  smallAt: (place) => `small on ${place}`,
  atStart: (n) => `${n} at the start`,
  stone: (colour, stone) => `${colour} ${stone}`,
  inGoal: (n, of) => `${n} of ${of} figures are in the goal area.`,
  middle: (tiles) => (tiles ? `In the middle: ${tiles}.` : "Nothing lies open in the middle."),
  revealed: (tile) => `${tile} has been turned up.`,
  left: (n) => `${n} cards in the draw pile.`,
  leftTiles: (n) => `${n} tiles are face down.`,
  discards: (tops) => (tops ? `On the piles: ${tops}.` : "No pile has a card."),
  openStones: (stones) => (stones ? `Open wish stones: ${stones}.` : "No wish stone lies open."),
  rowsOf: (name, rows) => (rows ? `${name}'s rows: ${rows}.` : `${name} has no rows.`),
};

/** @type {Words.Boards} */
const GERMAN = {
  colours: { R: "rot", Y: "gelb", V: "violett", G: "grün", B: "blau", P: "Punkte" },
  titles: {
    keltis: "Keltis",
    "neue-wege": "Neue Wege, Neue Ziele",
    kartenspiel: "Keltis – Das Kartenspiel",
    "weg-der-steine": "Der Weg der Steine",
  },
  seat: (seat) => `Platz ${seat}`,
  start: "Start",
  goal: "Ziel",
  draw: "Vorrat",
  faceDown: "verdeckt",
  closed: "gesperrt",
  hand: "Hand",
  removed: (n) => `${n} Karten sind aus dem Spiel`,
  cards: (n) => (n === 1 ? "1 Karte" : `${n} Karten`),
  wishStones: (n) => (n === 1 ? "1 Wunschstein" : `${n} Wunschsteine`),
  tilePoints: (n) => (n === 1 ? "1 Punkt von Plättchen" : `${n} Punkte von Plättchen`),
  bonus: (n) => (n === 1 ? "1 Bonuspunkt" : `${n} Bonuspunkte`),
  points: (n) => (Math.abs(n) === 1 ? `${n} Punkt` : `${n} Punkte`),
  pointsRow: "Punktereihe",
  row: (colour) => `Reihe ${colour}`,
  piles: "Stapel",
  players: "Spieler",
  turn: (n) => `Zug ${n}`,
  over: "Die Partie ist vorbei.",
  toDecide: (name, doing) => `${name} ${doing}.`,
  phases: {
    turn: "legt an oder wirft ab",
    figure: "wählt eine Figur",
    move: "zieht eine Figur",
    clover: "nutzt ein Kleeblatt",
    drop: "darf eine Karte ablegen",
    draw: "zieht nach",
    final: "legt letzte Karten",
    revealed: "nimmt oder lässt liegen",
    "last-turn": "nimmt ein letztes Plättchen",
    reveal: "deckt auf oder nimmt",
  },
  figuresAt: (name, places) => `Figuren von ${name}: ${places}.`,
  bigAt: (place) => `groß auf ${place}`,
  smallAt: (place) => `klein auf ${place}`,
  atStart: (n) => `${n} am Start`,
  stone: (colour, stone) => `${colour} ${stone}`,
  inGoal: (n, of) => `${n} von ${of} Figuren sind im Ziel.`,
  middle: (tiles) => (tiles ? `In der Mitte: ${tiles}.` : "In der Mitte liegt nichts offen."),
  revealed: (tile) => `${tile} ist aufgedeckt.`,
  left: (n) => `${n} Karten im Nachziehstapel.`,
  leftTiles: (n) => `${n} Plättchen sind verdeckt.`,
  discards: (tops) => (tops ? `Auf den Stapeln: ${tops}.` : "Alle Stapel sind leer."),
  openStones: (stones) => (stones ? `Offene Wunschsteine: ${stones}.` : "Kein Wunschstein liegt offen."),
  rowsOf: (name, rows) => (rows ? `Reihen von ${name}: ${rows}.` : `${name} hat keine Reihen.`),
};

/** @type {Record<string, Words.Boards>} */
export const LANGUAGES = { en: ENGLISH, de: GERMAN };

/**
 * The words of a language; English if there are none.
 *
 * @param {string} language
 */
export function wordsOf(language) {
  return LANGUAGES[language] ?? ENGLISH;
}

/**
 * What a seat is doing, in a phase of a game.
 *
 * @param {Words.Boards} words
 * @param {Views.View} view
 */
export function doing(words, view) {
  const inTiles = view.variant === "weg-der-steine" && view.phase === "turn";
  if (view.phase === "over") return "";
  return words.phases[inTiles ? "reveal" : view.phase];
}

/**
 * A number with a true minus sign.
 *
 * @param {number} number
 */
export function signed(number) {
  return number < 0 ? `−${-number}` : `${number}`;
}
