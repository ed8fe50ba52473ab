// @ts-check
// The decisions of a game as a list, in words and in notation.

import { make } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";
import { narrate } from "../narrator/narrator.js";

/** @import { Game } from "./model.js" */

const PAST = 0.35; // of the list is above the current line
const HEADS = ["●", "■", "▲", "◆"]; // of the figures of each seat
const language = document.documentElement.lang;

/**
 * Say in a sentence what the decision before a ply was.
 *
 * @param {Game} game
 * @param {number} ply
 * @param {string[]} names
 */
export function sentence(game, ply, names) {
  const frame = game.frames[ply - 1];
  const before = game.viewAt(ply - 1);
  const after = game.viewAt(ply);
  return narrate({ notation: frame.notation, name: names[frame.seat], before, after, language });
}

export class Moves {
  /** @type {Game | null} */
  #game = null;
  #faults = 0;
  /** @type {HTMLElement | null} */
  #current = null;
  // Asks where the current line is when that is known anyway: asking at once has the page laid out for it.
  #sight = new IntersectionObserver((seen) => this.#follow(seen[seen.length - 1]));
  #list = make("ol", { class: "moves", tabindex: 0, "aria-labelledby": "moves-title" });
  /** @type {HTMLElement[]} */
  #items = []; // of decisions, without those of faults

  /** @param {(ply: number) => void} seek */
  constructor(seek) {
    this.element = make(
      "section",
      { class: "moves-part" },
      make("h2", { id: "moves-title" }, say("view_moves")),
      make("div", { class: "moves-frame" }, this.#list),
    );
    this.#list.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest("[data-ply]") : null;
      if (item) seek(Number(item.getAttribute("data-ply")));
    });
  }

  /**
   * @param {Game} game
   * @param {number} ply
   * @param {string[]} names
   */
  show(game, ply, names) {
    if (game !== this.#game || game.faults.length !== this.#faults) this.#begin(game);
    if (!game.isDealt) return;
    this.#list.classList.toggle("is-untimed", !game.isTimed);
    const fresh = document.createDocumentFragment();
    while (this.#items.length < game.plies) {
      const at = this.#items.length + 1;
      this.#fault(game, at - 1, names, fresh);
      const item = line(game, at, sentence(game, at, names));
      this.#items.push(item);
      fresh.append(item);
    }
    if (game.ended && this.#list.dataset.ended !== "yes" && !game.isMissing) {
      this.#list.dataset.ended = "yes";
      for (const fault of game.faults) if (fault.ply >= game.plies) fresh.append(faultLine(fault, game.plies, names));
    }
    this.#list.append(fresh);
    this.#mark(ply);
  }

  /** @param {Game} game */
  #begin(game) {
    this.#game = game;
    this.#faults = game.faults.length;
    this.#items = [];
    this.#current = null;
    delete this.#list.dataset.ended;
    this.#list.replaceChildren();
  }

  /**
   * @param {Game} game
   * @param {number} ply
   * @param {string[]} names
   * @param {DocumentFragment} fresh
   */
  #fault(game, ply, names, fresh) {
    for (const fault of game.faults) if (fault.ply === ply) fresh.append(faultLine(fault, ply, names));
  }

  /** @param {number} ply */
  #mark(ply) {
    const item = this.#items[ply - 1] ?? null;
    if (item === this.#current) return;
    this.#current?.removeAttribute("aria-current");
    item?.setAttribute("aria-current", "step");
    this.#current = item;
    this.#sight.disconnect();
    if (item) this.#sight.observe(item);
    else this.#list.scrollTop = 0;
  }

  /**
   * Have the current line where some of the past is above it. Only the list scrolls, never the page.
   *
   * @param {IntersectionObserverEntry} seen
   */
  #follow({ target, boundingClientRect: line }) {
    if (target !== this.#current) return;
    const frame = this.#list.getBoundingClientRect();
    this.#list.scrollTop += line.top - frame.top - frame.height * PAST;
  }
}

/**
 * @param {Game} game
 * @param {number} ply
 * @param {string} text
 */
function line(game, ply, text) {
  const { seat, notation, ms } = game.frames[ply - 1];
  return make(
    "li",
    { "data-ply": ply, class: `player-${seat}` },
    make("span", { class: "move-number number" }, number(ply)),
    make("span", { class: "move-seat", "aria-hidden": "true" }, HEADS[seat]),
    make("span", { class: "move-words" }, text),
    make("code", {}, notation),
    make(
      "span",
      { class: "move-time number" },
      ms === null || ms === undefined ? "" : say("view_ms", { count: number(ms) }),
    ),
  );
}

/**
 * @param {Viewing.Fault} fault
 * @param {number} ply
 * @param {string[]} names
 */
function faultLine(fault, ply, names) {
  return make(
    "li",
    { class: "move-fault", "data-ply": ply },
    make("span", { class: "move-words" }, faultText(fault, names)),
  );
}

/**
 * @param {Viewing.Fault} fault
 * @param {string[]} names
 */
export function faultText({ seat, kind, code }, names) {
  return say("view_fault", { name: names[seat], kind: say(`fault.${kind}`), code: code ? ` (${code})` : "" });
}
