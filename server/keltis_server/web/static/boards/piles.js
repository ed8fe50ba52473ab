// @ts-check
// The draw pile and the discard piles as a line of cards.

import { CardList } from "./lists.js";
import { Memory } from "./memory.js";
import { html, well } from "./svg.js";
import { icon, LETTERS, SYMBOL_NAMES } from "./symbols.js";
import { put } from "./texts.js";

export class Piles {
  #shown = new Memory();

  /**
   * @param {Views.Variant} variant
   * @param {Words.Boards} words
   */
  constructor(variant, words) {
    this.words = words;
    this.isTiles = variant === "weg-der-steine";
    this.size = html("span", { class: "draw-pile-size" });
    this.drawPile = html("span", { class: "draw-pile card card-back" }, well("size-well", this.size));
    const label = html("span", { class: "pile-label" }, this.isTiles ? words.faceDown : words.draw);
    this.out = html("span", { class: "pile-out" });
    this.discards = this.isTiles ? [] : LETTERS.map((letter) => new Discards(letter, words));
    this.element = html(
      "section",
      { class: "piles", "aria-label": words.piles },
      html("div", { class: "pile pile-draw" }, this.drawPile, label),
      ...this.discards.map((pile) => pile.element),
      this.out,
    );
  }

  /** @param {Views.View} view */
  plans(view) {
    const { piles } = view;
    return piles ? this.discards.map((pile) => pile.cards.plan(piles[pile.letter].slice(-1))) : [];
  }

  /** @param {Views.View} view */
  show(view) {
    if (this.#shown.isNew("size", view.pile.size)) {
      put(this.size, view.pile.size);
      this.drawPile.classList.toggle("is-empty", view.pile.size === 0);
    }
    if (!view.piles) return;
    if (this.#shown.isNew("removed", view.removed))
      put(this.out, view.removed.size ? this.words.removed(view.removed.size) : "");
    for (const pile of this.discards) pile.show(view);
  }
}

/** A discard pile: its top card, how many there are, and whether it is closed. */
class Discards {
  #shown = new Memory();

  /**
   * @param {Views.Colour} letter
   * @param {Words.Boards} words
   */
  constructor(letter, words) {
    this.letter = letter;
    this.words = words;
    this.count = html("span", { class: "pile-label" });
    const slot = html("span", { class: "pile-slot" });
    this.spot = html("span", { class: "pile-spot" }, icon(SYMBOL_NAMES[letter]), slot);
    this.cards = new CardList(slot, "pile");
    this.element = html(
      "div",
      { class: `pile line-${letter}`, "data-pile": letter },
      this.spot,
      well("count-well", this.count),
    );
  }

  /** @param {Views.WithCards & {piles: Views.Rows}} view */
  show(view) {
    const cards = view.piles[this.letter];
    const isClosed = view.closed.includes(this.letter);
    if (!this.#shown.isNew("pile", cards, isClosed)) return;
    this.element.dataset.count = String(cards.length);
    this.element.classList.toggle("is-closed", isClosed);
    this.spot.classList.toggle("is-taken", cards.length > 0);
    this.element.title = [...cards].reverse().join(" ");
    put(this.count, isClosed ? this.words.closed : cards.length > 1 ? `${cards.length}` : "");
  }
}
