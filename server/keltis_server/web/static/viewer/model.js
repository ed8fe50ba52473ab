// @ts-check
// A match as the server tells it: messages and frames come in, the position after any decision is there.
//
// Nothing here knows where messages come from, how quickly they are shown, or on what.

import { must } from "../lib/nodes.js";
import { apply } from "../lib/patches.js";
import { entrantsBySeat } from "../lib/rotation.js";

export const PUBLIC = "public";
export const ALL = "all"; // all cards: when the match is over
const OVER = new Set(["finished", "failed", "cancelled"]);
const KEYFRAME = 32; // decisions from one view that is kept to the next
const NEAR = 3; // views that are kept besides
/** @type {Set<string | number>} */
const GIFTS = new Set(["tiles", "stacks", "points", "wish_stones", "bonus"]); // parts of views that change with a tile

/** One rotation of a match as one onlooker sees it. */
export class Game {
  /** @type {Wire.FrameOut[]} */
  frames = [];
  /** @type {Viewing.Fault[]} */
  faults = [];
  /** @type {number[]} */
  events = []; // plies after which something special has happened, in order
  /** @type {number[]} */
  firstClocks = []; // milliseconds at the deal
  isTimed = true; // else it was not kept how long anything took
  ended = false;
  /** @type {number[] | null} */
  scores = null; // in the end
  told = 0; // decisions that there are, as far as we heard
  isUnsure = false; // perhaps of an attempt that was given up while we were away
  /** @type {Views.View[]} */
  #kept = []; // views, one for every KEYFRAME decisions
  /** @type {Views.View | null} */
  #tip = null; // the newest view; none until the deal is known
  /** @type {{ply: number, view: Views.View}[]} */
  #near = []; // {ply, view} that were asked for last: a decision is told by the views around it
  /** @type {Map<number, Wire.FrameOut>} */
  #early = new Map(); // frames that came before one that is missing

  /**
   * @param {number} rotation
   * @param {number[]} seats
   */
  constructor(rotation, seats) {
    this.rotation = rotation;
    this.seats = seats; // the entrant on each
  }

  get plies() {
    return this.frames.length;
  }

  get isDealt() {
    return this.#tip !== null;
  }

  get isMissing() {
    return !this.isDealt || this.isUnsure || this.told > this.plies;
  }

  /** @param {Views.View} view */
  deal(view) {
    this.frames = [];
    this.events = [];
    this.#tip = view;
    this.#kept = [view];
    this.#near = [];
  }

  /**
   * Take a decision; one that is known already changes nothing.
   *
   * @param {Wire.FrameOut} frame
   */
  add(frame) {
    this.told = Math.max(this.told, frame.ply + 1);
    if (!this.isDealt || frame.ply > this.plies) {
      this.#early.set(frame.ply, frame);
      return;
    }
    let next = frame.ply === this.plies ? frame : undefined;
    while (next) {
      this.#tip = apply(next.patch, must(this.#tip));
      this.frames.push(next);
      if (this.plies % KEYFRAME === 0) this.#kept.push(this.#tip);
      if (next.patch.some(([path]) => GIFTS.has(path[0]))) this.events.push(this.plies);
      next = this.#early.get(this.plies);
      this.#early.delete(this.plies);
    }
  }

  /**
   * Return whether these frames are of another attempt to play the game.
   *
   * @param {Wire.FrameOut[]} frames
   */
  contradicts(frames) {
    return frames.some(({ ply, action }) => ply < this.plies && this.frames[ply].action !== action);
  }

  /**
   * Take a game from its beginning, unless more of it is known.
   *
   * @param {Views.View} view
   * @param {Wire.FrameOut[]} frames
   */
  fill(view, frames) {
    if (!this.isDealt) this.deal(view);
    for (const frame of frames) this.add(frame);
    const next = this.#early.get(this.plies);
    if (next) this.add(next);
  }

  /**
   * Take note of a fault, once.
   *
   * @param {Partial<Wire.FrameFaultOut & Wire.GameFaultOut> & {seat: number}} told
   */
  drop({ ply, decision, seat, fault, kind, code }) {
    const found = { ply: ply ?? decision ?? 0, seat, kind: fault ?? kind ?? "", code: code ?? "" };
    if (!this.faults.some((each) => each.ply === found.ply && each.seat === seat)) this.faults.push(found);
  }

  /**
   * Return the view after a number of decisions.
   *
   * @param {number} ply
   * @returns {Views.View}
   */
  viewAt(ply) {
    const known = this.#near.find((each) => each.ply === ply);
    if (known) return known.view;
    const view = ply === this.plies ? must(this.#tip) : this.#walk(ply);
    this.#near = [{ ply, view }, ...this.#near].slice(0, NEAR);
    return view;
  }

  /** @param {number} ply */
  #walk(ply) {
    const index = Math.floor(ply / KEYFRAME);
    let at = index * KEYFRAME;
    let view = this.#kept[index];
    for (const each of this.#near) if (each.ply < ply && each.ply > at) ({ ply: at, view } = each);
    for (; at < ply; at++) view = apply(this.frames[at].patch, view);
    return view;
  }

  /**
   * Return the milliseconds that each seat has left; none if that was not kept.
   *
   * @param {number} ply
   */
  clocksAt(ply) {
    if (!this.isTimed) return [];
    return ply ? this.frames[ply - 1].clocks : this.firstClocks;
  }

  /**
   * Return the ply of the next fault, tile or end after this one; null if none is known.
   *
   * @param {number} ply
   */
  eventAfter(ply) {
    const plies = [...this.events, ...this.faults.map((fault) => Math.min(fault.ply, this.plies))];
    if (this.ended) plies.push(this.plies);
    const later = plies.filter((each) => each > ply);
    return later.length ? Math.min(...later) : null;
  }
}

/** One match, from every perspective that we have been given. */
export class MatchModel {
  restarts = 0;
  why = ""; // why it was begun again, as a code
  ended = false; // nothing more will come
  /** @type {string | null} */
  state = null; // how it ended, in the server's word
  /** @type {Map<string, Map<number, Game>>} */
  #seen = new Map([[PUBLIC, new Map()]]); // perspective -> rotation -> game
  /** @type {Set<string>} */
  #broken = new Set(); // perspectives of a match that was broken off, and waits to be begun again
  /** @type {Map<string, string>} */
  #attempts = new Map(); // perspective -> the attempt to play the match whose games are known

  /** @param {Viewing.Match} match */
  constructor(match) {
    this.match = match;
    this.expect(match);
  }

  get isOver() {
    return this.ended;
  }

  get isFinished() {
    return this.match.state === "finished";
  }

  /** The rotations that have begun, in order. */
  get begun() {
    const found = new Set();
    for (const games of this.#seen.values()) for (const rotation of games.keys()) found.add(rotation);
    return [...found].sort((one, other) => one - other);
  }

  get latest() {
    return this.begun.at(-1) ?? 0;
  }

  /**
   * Return a game from the perspective that has most of it; all show the same moves.
   *
   * @param {number} rotation
   * @returns {Game | null}
   */
  longest(rotation) {
    let best = null;
    for (const games of this.#seen.values()) {
      const game = games.get(rotation);
      if (game && (!best || rank(game) > rank(best))) best = game;
    }
    return best;
  }

  /**
   * Return a game from a perspective, or as long as that lags behind, from the best one.
   *
   * @param {number} rotation
   * @param {number} ply
   * @param {string} perspective
   */
  seenFrom(rotation, ply, perspective) {
    const game = this.#seen.get(perspective)?.get(rotation);
    return game?.isDealt && game.plies >= ply ? game : this.longest(rotation);
  }

  /**
   * Return whether moves of a game have to be asked for.
   *
   * @param {number} rotation
   * @param {string} perspective
   */
  lacks(rotation, perspective) {
    const game = this.#seen.get(perspective)?.get(rotation);
    return this.begun.includes(rotation) && (!game || game.isMissing);
  }

  /** @param {number} rotation */
  seatsOf(rotation) {
    return this.longest(rotation)?.seats ?? entrantsBySeat(rotation, this.match.players);
  }

  /** @param {number} rotation */
  namesIn(rotation) {
    return this.seatsOf(rotation).map((position) => this.match.entrants[position].bot);
  }

  /** @param {Live.Match} told */
  snapshot({ match, games, current, attempt }, perspective = PUBLIC) {
    this.ended = false; // one that was broken off may be played after all
    this.expect(match);
    const known = this.#games(perspective);
    if (!games.length) {
      if (known.size) this.#broken.add(perspective); // what was seen of it stays until it is begun again
      return;
    }
    const told = new Map(games.map((game) => [game.rotation, game.plies]));
    const isBehind = [...known.values()].some((game) => (told.get(game.rotation) ?? 0) < game.plies);
    const isAnother = attempt !== null && attempt !== (this.#attempts.get(perspective) ?? attempt);
    if (isBehind || isAnother || this.#broken.has(perspective)) this.#forget(perspective, ""); // while we were away
    if (attempt !== null) this.#attempts.set(perspective, attempt);
    else for (const game of known.values()) game.isUnsure = game.isDealt; // it is over: who knows which one counted
    for (const { rotation, seats, plies, ended, scores, faults } of games) {
      if (!plies && !ended) continue; // not begun, or the current one, which follows
      const game = this.#game(rotation, seats, perspective);
      game.told = Math.max(game.told, plies);
      game.ended = ended;
      game.scores = ended ? scores : null;
      for (const fault of faults) game.drop(fault);
    }
    if (!current) return;
    const game = this.#game(current.rotation, current.seats, perspective);
    game.firstClocks = current.clocks;
    game.fill(current.view, current.frames);
  }

  /** @param {Live.MatchEvent} event */
  event(event, perspective = PUBLIC) {
    if (event.kind === "restarted") return this.#forget(perspective, event.reason_code);
    if (this.#broken.has(perspective)) this.#forget(perspective, "");
    const game = this.#game(event.rotation, event.kind === "game" ? event.seats : undefined, perspective);
    switch (event.kind) {
      case "game":
        this.#attempts.set(perspective, event.attempt);
        if (game.isDealt) return;
        game.firstClocks = event.clocks;
        return game.deal(event.view);
      case "frame":
        return game.add(event);
      case "fault":
        return game.drop(event);
      case "ended":
        game.ended = true;
        game.scores = event.scores;
    }
  }

  /** @param {Live.MatchEnd} told */
  end({ match, state }) {
    this.expect(match);
    this.ended = true;
    this.state = state ?? match.state;
  }

  /**
   * Take a whole game, as the API returns it.
   *
   * @param {Wire.FramesOut} told
   * @param {string} perspective
   */
  load(told, perspective) {
    if (this.#seen.get(perspective)?.get(told.rotation)?.contradicts(told.frames)) {
      this.#forget(perspective, ""); // it was begun again, and ended, while we were away
      this.expect(this.match);
    }
    const game = this.#game(told.rotation, told.seats, perspective);
    game.isUnsure = false;
    game.firstClocks = told.clocks;
    game.fill(told.view, told.frames);
    game.ended ||= told.ended;
    if (told.ended) game.scores ??= told.scores;
    game.isTimed = game.frames.some((frame) => frame.ms !== null);
    for (const fault of told.faults) game.drop(fault);
  }

  /**
   * Take note of a match, and of the games that it consists of if it is over; without their moves.
   *
   * @param {Viewing.Match} match
   */
  expect(match) {
    this.match = match;
    if (OVER.has(match.state)) {
      this.ended = true;
      this.state = match.state;
    }
    for (const { rotation, seats, scores, faults } of match.games) {
      const game = this.#game(rotation, seats, PUBLIC);
      game.ended = true;
      game.scores = scores;
      for (const fault of faults) game.drop(fault);
    }
  }

  /**
   * @param {string} perspective
   * @param {string} reason
   */
  #forget(perspective, reason) {
    this.#seen.set(perspective, new Map());
    this.#broken.delete(perspective);
    this.#attempts.delete(perspective);
    if (perspective !== PUBLIC) return;
    this.restarts++;
    this.why = reason;
  }

  /**
   * @param {string} perspective
   * @returns {Map<number, Game>}
   */
  #games(perspective) {
    const known = this.#seen.get(perspective) ?? new Map();
    this.#seen.set(perspective, known);
    return known;
  }

  /**
   * @param {number} rotation
   * @param {number[] | undefined} seats
   * @param {string} perspective
   */
  #game(rotation, seats, perspective) {
    const games = this.#games(perspective);
    const game = games.get(rotation) ?? new Game(rotation, seats ?? entrantsBySeat(rotation, this.match.players));
    games.set(rotation, game);
    return game;
  }
}

/** @param {Game} game */
function rank(game) {
  return game.isDealt ? game.plies + 1 : 0;
}
