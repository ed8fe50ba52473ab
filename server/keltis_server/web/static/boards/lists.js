// @ts-check
// Rows and hands as lists of cards, and cards that slide from one list to another.

import { card, cardBack } from "./pieces.js";
import { animate } from "./svg.js";

const BACK = "back"; // stands for a card that is hidden

/**
 * @typedef {{name: string, node: Element}} Card
 * @typedef {{list: CardList, names: string[], kept: Card[], gone: Card[], came: Card[]}} Plan
 * @typedef {{name: string, list: CardList, box: DOMRect}} Source
 */

/** A list of cards in an element; a change is planned first, so that it can be shown as motion. */
export class CardList {
  /** @type {string[]} */
  #names = [];

  /**
   * @param {HTMLElement} element
   * @param {"row" | "hand" | "pile"} role
   */
  constructor(element, role) {
    this.element = element;
    this.role = role;
  }

  /**
   * Say which elements go and which cards come; null if nothing changes.
   *
   * @param {string[]} names
   * @returns {Plan | null}
   */
  plan(names) {
    if (names === this.#names || same(this.#names, names)) return null;
    const wanted = new Map();
    for (const name of names) wanted.set(name, (wanted.get(name) ?? 0) + 1);
    /** @type {Card[]} */
    const kept = [];
    /** @type {Card[]} */
    const gone = [];
    this.#names.forEach((name, k) => {
      const left = wanted.get(name) ?? 0;
      wanted.set(name, left - 1);
      (left > 0 ? kept : gone).push({ name, node: this.element.children[k] });
    });
    return { list: this, names, kept, gone, came: [] };
  }

  /** @param {Plan} plan */
  apply({ names, kept, gone, came }) {
    for (const { node } of gone) node.remove();
    names.forEach((name, k) => {
      const found = kept.findIndex((entry) => entry.name === name);
      const node = found < 0 ? made(name) : kept.splice(found, 1)[0].node;
      const there = this.element.children[k] ?? null;
      if (node !== there) this.element.insertBefore(node, there);
      if (found < 0) came.push({ name, node });
    });
    this.#names = names;
  }
}

/** @param {string} name */
function made(name) {
  if (name === BACK) return cardBack();
  return name.startsWith("seen ") ? card(name.slice(5), { "data-seen": "" }) : card(name);
}

/**
 * @param {string[]} a
 * @param {string[]} b
 */
function same(a, b) {
  return a.length === b.length && a.every((name, k) => name === b[k]);
}

/**
 * The list of a hand as far as a view tells it: its cards, or those seen and the backs.
 *
 * @param {Views.Hand} hand
 */
export function handNames(hand) {
  if (hand.cards !== null) return hand.cards;
  const seen = hand.known.map((name) => `seen ${name}`);
  return [...seen, ...Array.from({ length: hand.size - hand.known.length }, () => BACK)];
}

/**
 * Carry out plans; with motion, cards slide from where they were, or from the draw pile.
 *
 * @param {(Plan | null)[]} plans
 * @param {boolean} moving
 * @param {Element | undefined} drawPile
 */
export function carryOut(plans, moving, drawPile) {
  const changes = plans.filter((plan) => plan !== null);
  if (!changes.length) return;
  if (!moving) {
    for (const change of changes) change.list.apply(change);
    return;
  }
  const sources = changes.flatMap(({ gone, list }) =>
    gone.map(({ name, node }) => ({ name: plain(name), list, box: node.getBoundingClientRect() })),
  );
  const pile = drawPile?.getBoundingClientRect();
  for (const change of changes) change.list.apply(change);
  const slides = changes.flatMap(({ list, came }) =>
    came.map(({ name, node }) => ({ node, from: sourceOf(name, list, sources) ?? pile })),
  );
  // Where cards have come to is known when the page is laid out, which it is for this frame anyway.
  requestAnimationFrame(() => {
    const there = slides.filter(({ node }) => node.isConnected);
    const boxes = there.map(({ node }) => node.getBoundingClientRect());
    there.forEach(({ node, from }, k) => slide(node, from, boxes[k]));
  });
}

/** @param {string} name */
function plain(name) {
  return name.startsWith("seen ") ? name.slice(5) : name;
}

/**
 * @param {string} name
 * @param {CardList} list
 * @param {Source[]} sources
 */
function sourceOf(name, list, sources) {
  const elsewhere = sources.filter((source) => source.list !== list);
  const found =
    elsewhere.find((source) => source.name === plain(name)) ??
    (list.role === "hand" ? undefined : elsewhere.find((source) => source.name === BACK));
  return found?.box;
}

/**
 * @param {Element} node
 * @param {DOMRect | undefined} from
 * @param {DOMRect} to
 */
function slide(node, from, to) {
  if (!from) {
    animate(node, [{ opacity: 0 }, { opacity: 1 }], "fade");
    return;
  }
  const shift = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
  animate(
    node,
    [
      { transform: shift, opacity: 0.6 },
      { transform: "none", opacity: 1 },
    ],
    "slide",
  );
}
