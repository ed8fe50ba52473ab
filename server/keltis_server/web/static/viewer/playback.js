// @ts-check
// Where somebody stands in a match, and how quickly they go on.
//
// Bots may take a thousand decisions in a second; people read a few. What arrives waits in the model
// until the onlooker comes to it.

export const AS_THEY_COME = 0;
export const SPEEDS = [1, 2, 5, 10, 30, AS_THEY_COME]; // decisions a second
export const PAGE = 10; // decisions
const FASTEST = 30;
const USUAL = 5;
const BETWEEN_GAMES = 2.5; // seconds to look at the end of a game

/** A place in a match: after `ply` decisions of game `rotation`. */
export class Playback {
  speed = USUAL;
  rotation = 0;
  ply = 0;
  isPlaying = false;
  #waited = 0; // seconds at this place
  #restarts = 0;

  /** @param {import("./model.js").MatchModel} model */
  constructor(model) {
    this.model = model;
  }

  /** The last ply of the game that can be shown. */
  get end() {
    return this.model.longest(this.rotation)?.plies ?? 0;
  }

  get isAtEnd() {
    return this.ply >= this.end;
  }

  /** Whether this is the newest position that there is. */
  get isLive() {
    return !this.model.isOver && this.rotation === this.model.latest && this.isAtEnd;
  }

  /** Whether the whole match has been shown. */
  get isLast() {
    return this.model.isOver && this.rotation === this.model.latest && this.isAtEnd;
  }

  /** How many decisions have come that were not shown yet. */
  get behind() {
    const later = this.model.begun.filter((each) => each > this.rotation).map((each) => this.model.longest(each));
    return (
      Math.max(0, this.end - this.ply) +
      later.reduce((sum, game) => sum + Math.max(game?.plies ?? 0, game?.told ?? 0), 0)
    );
  }

  /** Seconds until time alone changes something; never, if that takes news. */
  get wait() {
    if (!this.isPlaying) return Infinity;
    if (!this.isAtEnd) return Math.max(0, 1 / (this.speed || FASTEST) - this.#waited);
    return this.#goesOn() ? Math.max(0, BETWEEN_GAMES - this.#waited) : Infinity;
  }

  /**
   * Let time pass; return whether the place has changed.
   *
   * @param {number} seconds
   */
  tick(seconds) {
    const { rotation, ply } = this;
    if (this.#restarts !== this.model.restarts) {
      this.#restarts = this.model.restarts;
      this.go(this.model.latest, Infinity);
    } else if (this.ply > this.end) this.ply = this.end;
    else if (this.isPlaying) this.#goOn(seconds);
    return rotation !== this.rotation || ply !== this.ply;
  }

  /** @param {number} seconds */
  #goOn(seconds) {
    if (this.speed === AS_THEY_COME && !this.model.isOver) return this.go(this.model.latest, Infinity);
    if (this.isAtEnd) {
      this.#waited += seconds;
      if (this.#goesOn() && this.#waited >= BETWEEN_GAMES) this.go(this.rotation + 1, 0);
      else if (this.isLast) this.isPlaying = false;
      return;
    }
    const speed = this.speed || FASTEST; // of a match that is over, nothing comes any more
    // However long nothing came: of many that come at once, one is shown.
    this.#waited = Math.min(this.#waited, 1 / speed) + seconds;
    const steps = Math.floor(this.#waited * speed);
    this.#waited -= steps / speed;
    this.ply = Math.min(this.end, this.ply + steps);
    if (this.isAtEnd) this.#waited = 0;
  }

  #goesOn() {
    const game = this.model.longest(this.rotation);
    const next = this.model.longest(this.rotation + 1);
    return Boolean(game?.ended && !game.isMissing && next?.isDealt);
  }

  /**
   * Go to a place, as far as there is one.
   *
   * @param {number} rotation
   * @param {number} ply
   */
  go(rotation, ply) {
    if (this.model.begun.includes(rotation)) this.rotation = rotation;
    this.ply = Math.max(0, Math.min(ply, this.end));
    this.#waited = 0;
  }

  /**
   * Go to a ply of this game, and stay there.
   *
   * @param {number} ply
   */
  seek(ply) {
    this.isPlaying = false;
    this.go(this.rotation, ply);
  }

  /** @param {number} count */
  step(count) {
    this.seek(this.ply + count);
  }

  /**
   * Go to the next fault, tile or end, in this game or the next.
   *
   * @returns {void}
   */
  nextEvent() {
    const found = this.model.longest(this.rotation)?.eventAfter(this.ply);
    if (found != null) return this.seek(found);
    if (this.isAtEnd && this.#goesOn()) {
      this.go(this.rotation + 1, 0);
      return this.nextEvent();
    }
    this.seek(this.end);
  }

  /** Go to the newest position, and on from there as decisions come. */
  live() {
    this.isPlaying = true;
    if (!this.model.isOver) this.speed = AS_THEY_COME;
    this.go(this.model.latest, Infinity);
  }

  /**
   * Go to the beginning of another game of the match.
   *
   * @param {number} count
   */
  turnGame(count) {
    if (this.model.begun.includes(this.rotation + count)) this.go(this.rotation + count, 0);
  }

  /** @param {number} count */
  changeSpeed(count) {
    const place = SPEEDS.indexOf(this.speed) + count;
    this.speed = SPEEDS[Math.max(0, Math.min(place, SPEEDS.length - 1))];
    this.#waited = 0;
  }

  /** Stop, or go on; from the end of a match that is over, from its beginning. */
  pause() {
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying && this.isLast) this.go(0, 0);
  }
}
