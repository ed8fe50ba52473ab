// @ts-check
// All games of a match side by side: the same deal from every seat, each with how it stands or ended.

import { createBoard } from "../boards/board.js";
import { make } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";

/** @import { Game, MatchModel } from "./model.js" */

const PACE = 400; // ms from one picture of a small board to the next

export class Games {
  /** @type {Entry[]} */
  #entries;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;

  /**
   * @param {MatchModel} model
   * @param {(rotation: number) => void} choose
   */
  constructor(model, choose) {
    this.model = model;
    const { players } = model.match;
    this.#entries = Array.from(
      { length: players },
      (_, rotation) => new Entry(model, rotation, () => choose(rotation)),
    );
    this.element = make(
      "section",
      { class: "games-part", "aria-labelledby": "games-title" },
      make("h2", { id: "games-title" }, say("view_games")),
      make("div", { class: `game-strip games-${players}` }, ...this.#entries.map((entry) => entry.element)),
    );
  }

  /** @param {number} current */
  show(current) {
    this.#entries.forEach((entry, rotation) => entry.choose(rotation === current));
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const entry of this.#entries) entry.show();
    }, PACE);
  }
}

class Entry {
  /** @type {Views.View | null} */
  #shown = null;
  #words = "";
  #isChosen = false;

  /**
   * @param {MatchModel} model
   * @param {number} rotation
   * @param {() => void} choose
   */
  constructor(model, rotation, choose) {
    this.model = model;
    this.rotation = rotation;
    const { variant, players } = model.match;
    const language = document.documentElement.lang;
    this.board = createBoard(variant, { players, names: model.namesIn(rotation), small: true, language });
    this.board.element.setAttribute("aria-hidden", "true");
    this.scores = make("span", { class: "game-scores" });
    this.cause = make("span", { class: "game-cause quiet" });
    this.element = make(
      "button",
      { type: "button", class: "game-entry", "aria-pressed": "false", disabled: true },
      make("span", { class: "game-title" }, say("view_game", { number: rotation + 1 })),
      make("span", { class: "game-felt" }, this.board.element),
      this.scores,
      this.cause,
    );
    this.element.addEventListener("click", choose);
    this.#tell(null);
  }

  /** @param {boolean} isChosen */
  choose(isChosen) {
    if (this.#isChosen === isChosen) return;
    this.#isChosen = isChosen;
    this.element.setAttribute("aria-pressed", String(isChosen));
  }

  show() {
    const game = this.model.longest(this.rotation);
    this.element.disabled = !game;
    const view = game?.isDealt ? game.viewAt(game.plies) : null;
    if (view && view !== this.#shown) {
      this.#shown = view;
      this.board.show(view);
    }
    this.#tell(game);
  }

  /** @param {Game | null} game */
  #tell(game) {
    const names = this.model.namesIn(this.rotation);
    const scores = game?.scores ?? this.#shown?.scores ?? null;
    const best = game?.ended && scores ? winners(this.model.match, game, scores) : [];
    const cause = causeOf(game, this.#shown);
    const words = JSON.stringify([names, scores, best, cause]);
    if (words === this.#words) return;
    this.#words = words;
    this.scores.replaceChildren(
      ...names.map((name, seat) =>
        make(
          "span",
          { class: `game-score${best.includes(seat) ? " first" : ""}` },
          make("span", { class: "game-name" }, name),
          make("span", { class: "number" }, scores ? number(scores[seat]) : "–"),
        ),
      ),
    );
    this.cause.replaceChildren(
      ...cause.map(([kind, text]) => make("span", { class: `badge-cause cause-${kind}` }, text)),
    );
  }
}

/**
 * The seats that won: by points, unless a fault decided it.
 *
 * @param {Viewing.Match} match
 * @param {Game} game
 * @param {number[]} scores
 */
function winners(match, game, scores) {
  const told = match.games.find((each) => each.rotation === game.rotation);
  if (told) return told.ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
  const out = new Set(game.faults.map((fault) => fault.seat));
  const rest = scores.filter((_, seat) => !out.has(seat));
  return scores.flatMap((points, seat) => (!out.has(seat) && points === Math.max(...rest) ? [seat] : []));
}

/**
 * What decided a game, as pairs of a kind and a text.
 *
 * @param {Game | null} game
 * @param {Views.View | null} view
 * @returns {[kind: string, text: string][]}
 */
function causeOf(game, view) {
  if (!game) return [["none", say("view_not_begun")]];
  /** @type {[kind: string, text: string][]} */
  const faults = game.faults.map(({ kind }) => ["fault", say(`fault.${kind}`)]);
  if (!game.ended) return [...faults, ["none", say("view_under_way")]];
  if (faults.length) return faults;
  const ending = view?.ending;
  return [["points", ending ? say("view_by_points", { ending: say(`ending.${ending}`) }) : say("view_points")]];
}
