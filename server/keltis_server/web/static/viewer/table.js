// @ts-check
// The board and the players of the game that is looked at.

import { onBeat } from "../boards/beat.js";
import { createBoard, createPlayers } from "../boards/board.js";
import { put } from "../boards/texts.js";
import { make, must } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";

/** @import { Game } from "./model.js" */

const PACE = 500; // ms from one description of the board to the next

export class Table {
  /** @type {ReturnType<typeof createBoard> | null} */
  board = null;
  /** @type {ReturnType<typeof createPlayers> | null} */
  players = null;
  #names = "";
  /** @type {Views.View | null} */
  #view = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {string[]} */
  #told = [];
  #text = make("p", { class: "hidden", id: "position" });

  /**
   * @param {{variant: Views.Variant, players: number}} match
   * @param {boolean} isEmbedded
   */
  constructor({ variant, players }, isEmbedded) {
    this.variant = variant;
    this.count = players;
    this.isEmbedded = isEmbedded;
    this.boardPart = make("div", { class: "board-part" });
    this.playersPart = make("div", { class: "players-part" });
  }

  /**
   * Set the table for those who sit at it; who sits where changes from game to game.
   *
   * @param {string[]} names
   */
  seat(names) {
    if (names.join() === this.#names) return;
    this.#names = names.join();
    this.#view = null;
    const wanted = { players: this.count, names, language: document.documentElement.lang };
    this.board = createBoard(this.variant, wanted);
    this.board.element.setAttribute("aria-describedby", "position");
    this.players = createPlayers(this.variant, wanted);
    this.#told = names.map(() => "");
    this.boardPart.replaceChildren(this.board.element, this.#text);
    const { width, height } = must(this.board.element.querySelector("svg")).viewBox.baseVal;
    must(document.getElementById("viewer")).style.setProperty("--ratio", (width / height).toFixed(3));
    if (this.isEmbedded) this.playersPart.replaceChildren(...this.players.seats.map(({ element }) => element));
    else this.playersPart.replaceChildren(this.players.element);
  }

  /**
   * @param {Game} game
   * @param {number} ply
   * @param {boolean} isMoving
   */
  show(game, ply, isMoving) {
    const previous = ply ? game.viewAt(ply - 1) : null;
    const view = game.viewAt(ply);
    if (view === this.#view) return this.#clocks(game, ply);
    this.#view = view;
    // First the players: before cards move it is measured where they are, and nothing may be dirty then.
    this.players?.show(view, { animate: isMoving, previous });
    this.board?.show(view, { animate: isMoving, previous });
    this.#clocks(game, ply);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#view && this.board) put(this.#text, this.board.describe(this.#view));
    }, onBeat(PACE));
  }

  /**
   * The time that is left; or why somebody plays no more.
   *
   * @param {Game} game
   * @param {number} ply
   */
  #clocks(game, ply) {
    const clocks = game.clocksAt(ply);
    this.players?.seats.forEach(({ clock }, seat) => {
      const fault = game.faults.find((each) => each.seat === seat && Math.min(each.ply, game.plies) <= ply);
      const text = fault ? say(`fault.${fault.kind}`) : clocks.length ? clockText(clocks[seat]) : "";
      if (this.#told[seat] === text) return;
      this.#told[seat] = text;
      put(clock, text);
      clock.title = fault ? fault.code : text && say("view_clock");
      clock.classList.toggle("badge-cause", Boolean(fault));
      clock.classList.toggle("cause-fault", Boolean(fault));
    });
  }
}

/** @param {number} ms */
function clockText(ms) {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return say("view_ms", { count: number(Math.max(0, ms)) });
  if (seconds < 60) return `${number(seconds, 1)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
