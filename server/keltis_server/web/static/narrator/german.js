// @ts-check
// The narrator's German.

/** @type {Record<Views.Colour, string>} */
const COLOURS = { R: "rote", Y: "gelbe", V: "violette", G: "grüne", B: "blaue" };

/**
 * @param {Views.Letter} letter
 * @param {string} cards
 */
function row(letter, cards) {
  return letter === "P" ? `die Punktereihe (${cards})` : `die ${COLOURS[letter]} Reihe (${cards})`;
}

/**
 * @param {string} sign
 * @param {boolean} isAgain
 */
function gift(sign, isAgain) {
  if (sign === "wish") return ", ein Wunschstein";
  if (sign === "clover") return `, ein Kleeblatt${isAgain ? ": noch ein Zug" : " zu spät"}`;
  return sign ? `, ${sign} ${sign === "1" ? "Bonuspunkt" : "Bonuspunkte"}` : "";
}

/** @param {string} card */
function cardName(card) {
  return card.endsWith("E") ? "eine Endkarte" : card;
}

/** @type {Words.Narrator} */
export const GERMAN = {
  between: (isFigure) => (isFigure ? ": " : " "),
  and: " und ",
  way: (from, to) => `wählt den Weg ${from ? `von ${from}` : "vom Start"} nach ${to}`,
  lay: (card, letter, cards) => `legt ${cardName(card)} in ${row(letter, cards)}`,
  add: (card, letter, cards) => `legt noch ${cardName(card)} in ${row(letter, cards)}`,
  discard: (card) => `wirft ${card} ab`,
  pair: (first, second, stone) => `wirft das Paar ${first} ${second} für Wunschstein ${stone} ab`,
  draw: (card) => (card ? `zieht ${card}` : "zieht eine Karte"),
  takeCard: (card, letter) => `nimmt ${card} vom ${letter === "P" ? "Punktestapel" : `${COLOURS[letter]}n Stapel`}`,
  takeTile: (tile, letter, cards, sign, isAgain) =>
    `nimmt ${tile} aus der Mitte in ${row(letter, cards)}${gift(sign, isAgain)}`,
  reveal: (tile) => `deckt ${tile} auf`,
  keep: (tile, letter, cards, sign, isAgain) => `nimmt ${tile} in ${row(letter, cards)}${gift(sign, isAgain)}`,
  leave: (tile) => `lässt ${tile} in der Mitte liegen`,
  dropNothing: "legt nichts ab",
  dropHand: (card) => `legt ${card} aus der Hand ab`,
  dropRow: (card, letter) => `legt ${card} aus der ${COLOURS[letter]}n Reihe ab`,
  stay: "lässt das Kleeblatt ungenutzt",
  addNone: "legt keine Karte mehr",
  addNoMore: "legt keine weitere",
  pass: "passt",
  stone: (letter, number) => `den ${COLOURS[letter]}n Stein ${number}`,
  step: (isBig, isNew, field, inGoal, of) =>
    `${isBig ? "die große Figur" : "eine kleine Figur"} ` +
    `${isNew ? "betritt" : "zieht auf"} ${field}` +
    (inGoal ? `, das Ziel (${inGoal} von ${of})` : ""),
  scores: (number) => `bringt ${number} ${number === 1 ? "Punkt" : "Punkte"}`,
  takesWish: (letter) => `nimmt einen ${letter ? `${COLOURS[letter]}n ` : ""}Wunschstein`,
  findsClover: "findet ein Kleeblatt",
  over: " Die Partie ist vorbei.",
  ends: (why) => ` Die Partie endet: ${why}.`,
  nearsEnd: (why) => ` Das Ende naht: ${why}; alle dürfen noch zwei Karten legen.`,
  endings: {
    figures: "die fünfte Figur hat das Ziel erreicht",
    "end cards": "fünf Reihen haben eine Endkarte",
    "last card": "die letzte Karte ist gezogen",
    "last tile": "das letzte Plättchen ist aufgedeckt",
    "turn limit": "die Zuggrenze ist erreicht",
  },
};
