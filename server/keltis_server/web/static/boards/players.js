// @ts-check
// The players of a game beside its board: names, scores, rows and hands, and the piles.

import { CardList, carryOut, handNames } from "./lists.js";
import { Memory } from "./memory.js";
import { figureIcon } from "./pieces.js";
import { Piles } from "./piles.js";
import { html, mayMove, well } from "./svg.js";
import { icon, installPatterns, LETTERS, SYMBOL_NAMES } from "./symbols.js";
import { put } from "./texts.js";
import { doing, signed, wordsOf } from "./words.js";

/**
 * Make the players of a game.
 *
 * `element` holds the piles and the seats; a page may as well take `piles` and `seats[k].element`
 * and put them elsewhere. `seats[k].clock` is an empty element for the page's own use.
 * `show(view, {animate, previous})` is as for boards.
 * In `kartenspiel` rows and piles are on the board itself, so there are none here.
 *
 * @param {Views.Variant} variant
 * @param {{players: number, names?: string[], language?: string}} wanted
 */
export function createPlayers(variant, { players, names, language = "en" }) {
  installPatterns();
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
    /**
     * @param {Views.View} view
     * @param {Drawing.Shown} [how]
     */
    show(view, { animate = false, previous = null } = {}) {
      const plans = [...seats.flatMap((seat) => seat.plans(view)), ...(piles?.plans(view) ?? [])];
      carryOut(plans, animate && mayMove(), piles?.drawPile);
      piles?.show(view);
      for (const seat of seats) seat.show(view, previous);
    },
  };
}

/**
 * @typedef {{letter: Views.Colour, cards: CardList, line: HTMLElement, recent: Element | null}} Row
 * @typedef {{sign?: string, letter?: Views.Colour, text: string, label: string}} Fact
 */

class Seat {
  #shown = new Memory();

  /**
   * @param {Views.Variant} variant
   * @param {number} seat
   * @param {string} name
   * @param {Words.Boards} words
   */
  constructor(variant, seat, name, words) {
    this.seat = seat;
    this.words = words;
    this.doing = html("span", { class: "player-doing" });
    this.clock = html("span", { class: "player-clock" });
    this.score = html("span", { class: "player-score" });
    this.facts = html("span", { class: "player-facts" });
    const head = html(
      "header",
      { class: "player-head" },
      figureIcon(seat, true),
      html("span", { class: "player-name" }, name),
      well("notes-well", html("span", { class: "player-notes" }, this.facts, this.doing)),
      well("clock-well", this.clock),
      well("score-well", this.score),
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
      ...(this.hand ? [well("hand-well", this.hand.element)] : []),
    );
  }

  /** @param {Views.View} view */
  plans(view) {
    const plans = this.rows.map(({ letter, cards }) => cards.plan(view.rows[this.seat][letter]));
    const hand = view.hands?.[this.seat];
    if (this.hand && hand && this.#shown.isNew("hand", hand)) {
      plans.push(this.hand.plan(handNames(hand)));
      this.hand.element.setAttribute("aria-label", `${this.words.hand}: ${this.words.cards(hand.size)}`);
    }
    return plans;
  }

  /**
   * @param {Views.View} view
   * @param {Views.View | null} previous
   */
  show(view, previous) {
    const shown = this.#shown;
    const isOver = view.phase === "over";
    const score = view.scores[this.seat];
    const isToDecide = !isOver && view.seat === this.seat;
    const isWinner = isOver && score === Math.max(...view.scores);
    if (shown.isNew("score", score)) put(this.score, signed(score));
    if (shown.isNew("turn", isToDecide, view.phase)) {
      put(this.doing, isToDecide ? doing(this.words, view) : "");
      this.element.classList.toggle("is-to-decide", isToDecide);
    }
    if (shown.isNew("winner", isWinner)) this.element.classList.toggle("is-winner", isWinner);
    if (shown.isNew("facts", view.wish_stones[this.seat], view.points?.[this.seat], view.bonus?.[this.seat])) {
      this.facts.replaceChildren(...factsOf(view, this.seat, this.words).map(fact));
    }
    for (const row of this.rows) this.#showRow(row, view.rows[this.seat], previous?.rows[this.seat]);
  }

  /**
   * Mark a row that is still empty, and the card that was laid last.
   *
   * @param {Row} row
   * @param {Views.Rows} now
   * @param {Views.Rows | undefined} before
   */
  #showRow(row, now, before) {
    const { letter, line, cards } = row;
    const { length } = now[letter];
    if (this.#shown.isNew(letter, length === 0)) line.classList.toggle("is-empty", length === 0);
    const recent = before && length > before[letter].length ? cards.element.lastElementChild : null;
    if (recent === row.recent) return;
    row.recent?.classList.remove("is-recent");
    recent?.classList.add("is-recent");
    row.recent = recent;
  }
}

/**
 * @param {Views.Colour} letter
 * @param {Words.Boards} words
 * @returns {Row}
 */
function row(letter, words) {
  const name = words.row(words.colours[letter]);
  const cards = new CardList(html("span", { class: "row-cards" }), "row");
  const line = html(
    "div",
    { class: `row line-${letter}`, "data-row": letter, role: "group", "aria-label": name },
    icon(SYMBOL_NAMES[letter], "icon row-symbol"),
    well("row-well", cards.element),
  );
  return { letter, cards, line, recent: null };
}

/** @param {Fact} fact */
function fact({ sign, letter, text, label }) {
  return html(
    "span",
    { class: `fact${letter ? ` line-${letter}` : ""}`, title: label },
    ...(sign ? [icon(sign)] : []),
    ...(letter ? [icon(SYMBOL_NAMES[letter])] : []),
    text,
  );
}

/**
 * What a seat has besides cards: wish stones, and points from tiles.
 *
 * @param {Views.View} view
 * @param {number} seat
 * @param {Words.Boards} words
 */
function factsOf(view, seat, words) {
  /** @type {Fact[]} */
  const facts = [];
  if (view.variant === "neue-wege") {
    const stones = view.wish_stones[seat];
    const had = LETTERS.filter((letter) => stones[letter]);
    const total = had.reduce((sum, letter) => sum + stones[letter], 0);
    const text = had.length ? "" : "0";
    facts.push({ sign: "wish", text, label: words.wishStones(total) });
    for (const letter of had) {
      const count = stones[letter];
      facts.push({ letter, text: `${count}`, label: words.colours[letter] });
    }
  } else {
    const stones = view.wish_stones[seat];
    const count = Array.isArray(stones) ? stones.length : stones;
    facts.push({ sign: "wish", text: `${count}`, label: words.wishStones(count) });
  }
  if (view.points) {
    const points = view.points[seat];
    facts.push({ text: `+${points}`, label: words.tilePoints(points) });
  }
  if (view.bonus) {
    const bonus = view.bonus[seat];
    facts.push({ text: `+${bonus}`, label: words.bonus(bonus) });
  }
  return facts;
}
