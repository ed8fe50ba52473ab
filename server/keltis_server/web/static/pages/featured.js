// @ts-check
// The big table of the first page: the match that is most worth watching now.
//
// That is the one with the best ranks at its table; of equals the one that has gone on longest. While nothing is
// played, it is what was just played. The server chooses by the same rule what the page begins with.

import { Table } from "./tables.js";

/** @import { openLive } from "../lib/live.js" */

const BOARD = "leaderboard/all/0";

export class Featured {
  /** @type {Map<string, number>} */
  #ranks = new Map(); // "bot/version" -> rank
  /** @type {string | null | undefined} */
  #first; // what the server has put here
  /** @type {Set<string | null>} */
  #seen = new Set(); // old matches that have been shown

  /**
   * @param {HTMLElement} slot
   * @param {ReturnType<typeof openLive>} live
   * @param {() => void} whenFree
   */
  constructor(slot, live, whenFree) {
    this.#first = slot.dataset.match;
    this.table = new Table(slot, live, whenFree, { isBig: true });
    const note = (/** @type {{lines: Wire.LineOut[]}} */ { lines }) => {
      for (const { bot, version, rank } of lines) this.#ranks.set(`${bot}/${version}`, rank ?? Infinity);
    };
    live.follow(BOARD, { snapshot: note, event: (event) => event.kind === "lines" && note(event) });
  }

  /**
   * Show the next match, if there is one; `running` and `played` are as the lobby tells them.
   *
   * @param {Wire.RunningOut[]} running
   * @param {Wire.PlayedOut[]} played
   */
  next(running, played) {
    const best = running.find((match) => match.id === this.#first) ?? this.#best(running);
    if (best) this.table.watch(best);
    else if (this.table.isSeen && played.length) this.table.replay(this.#old(played));
    if (this.table.free) return;
    this.#first = null;
    this.#seen.add(this.table.id);
  }

  /** @param {Wire.RunningOut[]} running */
  #best(running) {
    const [best] = running
      .map((match) => ({ match, ranks: this.#ranksOf(match) }))
      .sort((one, other) => compare(one.ranks, other.ranks) || one.match.since.localeCompare(other.match.since));
    return best?.match;
  }

  /** @param {Wire.RunningOut} match */
  #ranksOf({ entrants }) {
    const ranks = entrants.map(({ bot, version }) => this.#ranks.get(`${bot}/${version}`) ?? Infinity);
    return ranks.sort((one, other) => one - other);
  }

  /**
   * The newest that has not been shown; when all have been, they come again.
   *
   * @param {Wire.PlayedOut[]} played
   */
  #old(played) {
    if (played.every((match) => this.#seen.has(match.id))) this.#seen.clear();
    return played.find((match) => !this.#seen.has(match.id)) ?? played[0];
  }
}

/**
 * Compare tables by their ranks, the best first.
 *
 * @param {number[]} ranks
 * @param {number[]} others
 */
function compare(ranks, others) {
  for (let k = 0; k < Math.min(ranks.length, others.length); k++) {
    if (ranks[k] !== others[k]) return ranks[k] < others[k] ? -1 : 1;
  }
  return ranks.length - others.length;
}
