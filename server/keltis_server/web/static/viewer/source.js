// @ts-check
// Where a match comes from: the websocket while it is played, the API for what was played before.

import { ask, Refused, token } from "../lib/account.js";
import { openLive } from "../lib/live.js";
import { PUBLIC } from "./model.js";

/** @import { MatchModel } from "./model.js" */

const AGAIN = 3000; // ms after which what failed is asked for again

export class Source {
  /** @type {string[]} */
  own = []; // bots of this match whose hands its reader may see while it runs
  isGone = false; // there is no such match any more
  /** @type {MatchModel} */
  #model;
  /** @type {() => void} */
  #changed;
  /** @type {Set<string>} */
  #asked = new Set();
  /** @type {Map<string, () => void>} */
  #stops = new Map(); // perspective -> how to follow it no more

  /**
   * @param {MatchModel} model
   * @param {() => void} changed
   */
  constructor(model, changed) {
    this.#model = model;
    this.#changed = changed;
  }

  async begin() {
    if (this.#model.isOver) return;
    if (token()) await this.#greet();
    this.follow(PUBLIC);
  }

  /** Find out which bots are the reader's. */
  async #greet() {
    try {
      /** @type {Wire.AccountOut} */
      const { bots } = await ask("/account");
      const { entrants } = this.#model.match;
      this.own = [...new Set(entrants.map(({ bot }) => bot).filter((bot) => bots.includes(bot)))];
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error;
    }
    if (this.own.length) openLive().authorise(token());
  }

  /**
   * Follow the match as everybody, or with the hand of an own bot.
   *
   * @param {string} perspective
   */
  follow(perspective) {
    if (this.#stops.has(perspective) || this.#model.isOver) return;
    const { id } = this.#model.match;
    /** @type {`match/${string}`} */
    const topic = perspective === PUBLIC ? `match/${id}` : `match/${id}/bot/${perspective}`;
    const stop = openLive().follow(topic, {
      snapshot: (data) => this.#tell(() => this.#model.snapshot(data, perspective)),
      event: (event) => this.#tell(() => this.#model.event(event, perspective)),
      end: (data) => {
        this.#leave(perspective);
        if (perspective !== PUBLIC) return;
        this.#tell(() => this.#model.end(data));
        if (data.state === "withdrawn") setTimeout(() => this.#restart(), AGAIN);
      },
      error: () => {
        this.#leave(perspective);
        if (perspective === PUBLIC) this.#look();
      },
    });
    this.#stops.set(perspective, stop);
  }

  /**
   * Ask for the moves of a game, if some are missing.
   *
   * @param {number} rotation
   * @param {string} perspective
   */
  async want(rotation, perspective) {
    const key = `${rotation} ${perspective}`;
    if (this.#model.match.replay_removed) return;
    if (this.isGone || this.#asked.has(key) || !this.#model.lacks(rotation, perspective)) return;
    this.#asked.add(key);
    const { restarts } = this.#model;
    try {
      const { id } = this.#model.match;
      /** @type {Wire.FramesOut} */
      const game = await ask(`/matches/${id}/games/${rotation}/frames?viewer=${perspective}`);
      this.#asked.delete(key);
      // What was asked for before a restart is of the attempt that was given up.
      this.#tell(() => restarts === this.#model.restarts && this.#model.load(game, perspective));
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error;
      if (isUnknown(error) && this.#model.isOver) this.#vanish();
      setTimeout(() => {
        this.#asked.delete(key);
        this.#changed();
      }, AGAIN);
    }
  }

  /** The match was put back: it waits, and will be played again. */
  #restart() {
    this.#model.ended = false;
    this.follow(PUBLIC);
  }

  /** The socket does not know the match; perhaps the API still does. */
  async #look() {
    try {
      /** @type {Wire.MatchOut} */
      const match = await ask(`/matches/${this.#model.match.id}`);
      this.#tell(() => this.#model.expect(match));
      setTimeout(() => this.follow(PUBLIC), AGAIN);
    } catch (error) {
      if (isUnknown(error)) this.#vanish();
      else setTimeout(() => this.#look(), AGAIN);
    }
  }

  #vanish() {
    this.isGone = true;
    this.#changed();
  }

  /** @param {string} perspective */
  #leave(perspective) {
    this.#stops.get(perspective)?.();
    this.#stops.delete(perspective);
  }

  /** @param {() => void} take */
  #tell(take) {
    take();
    this.#changed();
  }
}

/** @param {unknown} error */
function isUnknown(error) {
  return error instanceof Refused && error.status === 404;
}
