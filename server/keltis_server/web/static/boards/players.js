// The players of a game beside its board: names, scores, rows and hands, and the piles.

import { CardList, carryOut, handNames } from "./lists.js";
import { Piles } from "./piles.js";
import { figureIcon } from "./pieces.js";
import { html, mayMove } from "./svg.js";
import { LETTERS, SYMBOL_NAMES, icon, installSymbols } from "./symbols.js";
import { put } from "./texts.js";
import { doing, signed, wordsOf } from "./words.js";

/**
 * Make the players of a game.
 *
 * `element` holds the piles and the seats; a page may as well take `piles` and `seats[k].element`
 * and put them elsewhere. `seats[k].clock` is an empty element for the page's own use.
 * `show(view, {animate, previous})` is as for boards.
 * In `kartenspiel` rows and piles are on the board itself, so there are none here.
 */
export function createPlayers(variant, { players, names, language = "en" }) {
  installSymbols();
  const words = wordsOf(language);
  const called = names ?? Array.from({ length: players }, (_, seat) => words.seat(seat));
  const piles = variant === "kartenspiel" ? null : new Piles(variant, words);
  const seats = called.map((name, seat) => new Seat(variant, seat, name, words));
  const element = html(
    "div",
    { class: `players players-${variant}`, role: "group", "aria-label": words.players },
    ...(piles ? [piles.element] : []),
    ...seats.map((seat) => seat.element),
  );
  return {
    element,
    piles: piles?.element ?? null,
    seats: seats.map(({ element: own, clock }) => ({ element: own, clock })),
    show(view, { animate = false, previous = null } = {}) {
      const plans = [...seats.flatMap((seat) => seat.plans(view)), ...(piles?.plans(view) ?? [])];
      carryOut(plans, animate && mayMove(), piles?.drawPile);
      piles?.show(view);
      for (const seat of seats) seat.show(view, previous);
    },
  };
}

class Seat {
  constructor(variant, seat, name, words) {
    this.seat = seat;
    this.words = words;
    this.doing = html("span", { class: "player-doing" });
    this.clock = html("span", { class: "player-clock" });
    this.score = html("span", { class: "player-score" });
    this.facts = html("span", { class: "player-facts" });
    this.told = {};
    const head = html(
      "header",
      { class: "player-head" },
      figureIcon(seat, true),
      html("span", { class: "player-name" }, name),
      html("span", { class: "player-notes" }, this.facts, this.doing),
      this.clock,
      this.score,
    );
    this.rows = variant === "kartenspiel" ? [] : LETTERS.map((letter) => row(letter, words));
    const lines = html("div", { class: "rows" }, ...this.rows.map(({ line }) => line));
    const hasHand = variant !== "weg-der-steine";
    this.hand = hasHand ? new CardList(html("div", { class: "hand" }), "hand") : null;
    this.element = html(
      "section",
      { class: `player player-${seat}`, "aria-label": name, "data-seat": seat },
      head,
      ...(this.rows.length ? [lines] : []),
      ...(this.hand ? [this.hand.element] : []),
    );
  }

  plans(view) {
    const plans = this.rows.map(({ letter, cards }) => cards.plan(view.rows[this.seat][letter]));
    if (this.hand) plans.push(this.hand.plan(handNames(view.hands[this.seat])));
    return plans;
  }

  show(view, previous) {
    const isToDecide = view.phase !== "over" && view.seat === this.seat;
    put(this.score, signed(view.scores[this.seat]));
    put(this.doing, isToDecide ? doing(this.words, view) : "");
    this.element.classList.toggle("is-to-decide", isToDecide);
    this.element.classList.toggle(
      "is-winner",
      view.phase === "over" && view.scores[this.seat] === Math.max(...view.scores),
    );
    this.#showFacts(view);
    if (this.hand) this.#labelHand(view.hands[this.seat]);
    for (const row of this.rows) this.#showRow(row, view, previous);
  }

  /** Mark a row that is still empty, and the card that was laid last. */
  #showRow({ line, letter, cards }, view, previous) {
    const { length } = view.rows[this.seat][letter];
    line.classList.toggle("is-empty", length === 0);
    cards.element.querySelector(".is-recent")?.classList.remove("is-recent");
    if (previous && length > previous.rows[this.seat][letter].length) {
      cards.element.lastChild.classList.add("is-recent");
    }
  }

  #showFacts(view) {
    const facts = factsOf(view, this.seat, this.words);
    const told = facts.map(({ key, text }) => `${key} ${text}`).join();
    if (told === this.told.facts) return;
    this.told.facts = told;
    this.facts.replaceChildren(
      ...facts.map(({ sign, letter, text, label }) =>
        html(
          "span",
          { class: `fact${letter ? ` line-${letter}` : ""}`, title: label },
          ...(sign ? [icon(sign)] : []),
          ...(letter ? [icon(SYMBOL_NAMES[letter])] : []),
          text,
        ),
      ),
    );
  }

  #labelHand(hand) {
    const label = `${this.words.hand}: ${this.words.cards(hand.size)}`;
    if (label === this.told.hand) return;
    this.told.hand = label;
    this.hand.element.setAttribute("aria-label", label);
  }
}

function row(letter, words) {
  const name = words.row(words.colours[letter]);
  const cards = new CardList(html("span", { class: "row-cards" }), "row");
  const line = html(
    "div",
    { class: `row line-${letter}`, "data-row": letter, role: "group", "aria-label": name },
    icon(SYMBOL_NAMES[letter], { class: "icon row-symbol" }),
    cards.element,
  );
  return { letter, cards, line };
}

/** What a seat has besides cards: wish stones, and points from tiles. */
function factsOf(view, seat, words) {
  const facts = [];
  const stones = view.wish_stones[seat];
  if (view.variant === "neue-wege") {
    const had = LETTERS.filter((letter) => stones[letter]);
    const total = had.reduce((sum, letter) => sum + stones[letter], 0);
    const text = had.length ? "" : "0";
    facts.push({ key: "wish", sign: "wish", text, label: words.wishStones(total) });
    for (const letter of had) {
      const count = stones[letter];
      facts.push({ key: letter, letter, text: `${count}`, label: words.colours[letter] });
    }
  } else {
    const count = Array.isArray(stones) ? stones.length : stones;
    facts.push({ key: "wish", sign: "wish", text: `${count}`, label: words.wishStones(count) });
  }
  if (view.points) {
    const points = view.points[seat];
    facts.push({ key: "points", text: `+${points}`, label: words.tilePoints(points) });
  }
  if (view.bonus) {
    const bonus = view.bonus[seat];
    facts.push({ key: "bonus", text: `+${bonus}`, label: words.bonus(bonus) });
  }
  return facts;
}
