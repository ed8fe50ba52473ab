// @ts-check
// The viewer of a match: the same for one that is being played and for one that was.

import { onBeat } from "../boards/beat.js";
import { refresher } from "../lib/morph.js";
import { make, must } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";
import { Announcer } from "./announcer.js";
import { Controls } from "./controls.js";
import { Games } from "./games.js";
import { helpDialog, listen } from "./keys.js";
import { addressOf, placeOf, remember } from "./links.js";
import { ALL, MatchModel, PUBLIC } from "./model.js";
import { Moves, sentence } from "./moves.js";
import { pngOf, save, svgOf } from "./pictures.js";
import { Playback, SPEEDS } from "./playback.js";
import { Scrubber } from "./scrubber.js";
import { Source } from "./source.js";
import { Table } from "./table.js";

/** @import { Game } from "./model.js" */

const SMOOTH = 5; // decisions a second up to which figures walk
const TINY = 440; // pixels: in narrower frames on other pages nothing walks, and the beat is kept; there may be many of them
const LONGEST_TICK = 0.25; // seconds later than planned: what passed while nobody looked does not count
const FRAME = 12; // ms that a picture has to be asked for before it is due

export class Viewer {
  /** @type {HTMLElement} */
  #root;
  /** @type {MatchModel} */
  #model;
  /** @type {Playback} */
  #playback;
  /** @type {Source} */
  #source;
  #isEmbedded;
  /** @type {string} */
  #perspective;
  /** @type {ReturnType<typeof placeOf> | null} */
  #asked; // the place that the address names, until it is reached
  /** @type {{rotation: number, ply: number} | null} */
  #shown = null; // what was shown last
  /** @type {number | null} */
  #due = null; // the next picture
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null; // until it is time for that
  #wait = 0; // seconds, as it was set
  /** @type {ReturnType<typeof setTimeout> | null} */
  #beat = null; // until news are shown, where many boards keep time
  /** @type {number | null} */
  #before = null; // when the last picture was drawn
  #wasOver;
  #isNew = true; // nothing has been shown yet
  #refresh = refresher();

  /**
   * @param {HTMLElement} root
   * @param {Viewing.Match} match
   */
  constructor(root, match) {
    this.#root = root;
    this.#isEmbedded = "embedded" in root.dataset;
    this.#model = new MatchModel(match);
    this.#playback = new Playback(this.#model);
    this.#source = new Source(this.#model, () => this.#hear());
    this.#wasOver = this.#model.isOver;
    this.#asked = placeOf(location);
    this.#perspective = this.#model.isFinished ? (this.#asked.perspective ?? ALL) : PUBLIC;
    this.#playback.isPlaying = !this.#model.isOver;
    const seek = (/** @type {number} */ ply) => this.#do(() => this.#playback.seek(ply));
    const actions = this.#actions(seek);
    this.table = new Table(match, this.#isEmbedded);
    this.scrubber = new Scrubber(seek);
    this.controls = new Controls(actions, {
      isEmbedded: this.#isEmbedded,
      isOver: this.#model.isOver,
      address: `/api/v1/matches/${match.id}`,
    });
    this.announcer = new Announcer();
    this.status = make("p", { class: "viewer-status", role: "status" });
    this.moves = this.#isEmbedded ? null : new Moves(seek);
    this.games = this.#isEmbedded ? null : new Games(this.#model, (rotation) => this.#do(() => this.#turnTo(rotation)));
    this.help = this.#isEmbedded ? null : helpDialog();
    this.#arrange();
    listen(actions);
    addEventListener("hashchange", () => this.#follow());
    this.#begin();
    this.#source.begin();
    this.#draw();
  }

  /** Put everything into the page. */
  #arrange() {
    const { match } = this.#model;
    this.table.seat(this.#model.namesIn(this.#playback.rotation));
    const upper = make("div", { class: "upper-part" }, this.table.boardPart, this.table.playersPart);
    const track = make("div", { class: "track-part" }, this.scrubber.element, this.controls.element);
    const notes = make("div", { class: "notes-part" }, this.status);
    /** @type {HTMLElement[]} */
    const parts = [upper, track, notes, this.announcer.element];
    if (this.moves && this.games && this.help) {
      const lower = make("div", { class: "lower-part" }, this.games.element);
      // Two players leave room beside the board, and a table that is broader than high below it.
      if (match.players === 2 || match.variant === "weg-der-steine") upper.append(this.moves.element);
      else lower.prepend(this.moves.element);
      if (this.controls.extras) notes.append(this.controls.extras);
      parts.push(lower, this.help);
    }
    this.#root.dataset.variant = match.variant;
    this.#root.dataset.players = String(match.players);
    this.#root.replaceChildren(...parts);
    this.#root.classList.add("is-ready");
  }

  /** Go to the place of an address that was put in by hand. */
  #follow() {
    this.#asked = placeOf(location);
    if (this.#asked.perspective && this.#model.isFinished) this.#see(this.#asked.perspective);
    this.#begin();
    this.#draw();
  }

  /**
   * @param {(ply: number) => void} seek
   * @returns {Viewing.Actions}
   */
  #actions(seek) {
    const playback = this.#playback;
    return {
      seek,
      pause: () => this.#do(() => playback.pause()),
      step: (count) => this.#do(() => playback.step(count)),
      nextEvent: () => this.#do(() => playback.nextEvent()),
      live: () => this.#do(() => playback.live()),
      turnGame: (count) => this.#do(() => playback.turnGame(count)),
      setSpeed: (speed) => this.#do(() => (playback.speed = SPEEDS.includes(speed) ? speed : playback.speed)),
      changeSpeed: (count) => this.#do(() => playback.changeSpeed(count)),
      see: (perspective) => this.#do(() => this.#see(perspective)),
      turnSight: () => this.#do(() => this.#turnSight()),
      help: () => this.help?.showModal(),
      copy: (button) => this.#copy(button),
      saveSvg: () => save(new Blob([this.#picture()], { type: "image/svg+xml" }), `${this.#fileName()}.svg`),
      savePng: async () => save(await pngOf(this.#picture()), `${this.#fileName()}.png`),
    };
  }

  /**
   * Do what somebody asked for; the address names another place no more.
   *
   * @param {() => void} act
   */
  #do(act) {
    this.#asked = null;
    act();
    this.#draw();
  }

  /** @param {number} rotation */
  #turnTo(rotation) {
    if (rotation !== this.#playback.rotation) this.#playback.go(rotation, 0);
  }

  /** Go to where the address says, as soon as that is known. */
  #begin() {
    if (!this.#asked) return;
    const { rotation, ply } = this.#asked;
    if (rotation === null && ply === null) {
      this.#asked = null;
      return;
    }
    this.#playback.isPlaying = false;
    const wanted = rotation ?? 0;
    const game = this.#model.longest(wanted);
    this.#playback.go(wanted, ply ?? 0);
    if (game?.isDealt && (game.plies >= (ply ?? 0) || !game.isMissing)) this.#asked = null;
  }

  /** @param {string} perspective */
  #see(perspective) {
    this.#perspective = perspective;
    if (this.#source.own.includes(perspective)) this.#source.follow(perspective);
  }

  #turnSight() {
    const seats = this.#model.namesIn(this.#playback.rotation).map((_, seat) => String(seat));
    const all = this.#model.isFinished ? [ALL, PUBLIC, ...seats] : [PUBLIC, ...this.#source.own];
    this.#see(all[(all.indexOf(this.#perspective) + 1) % all.length]);
  }

  #draw() {
    this.#due ??= requestAnimationFrame((now) => {
      this.#due = null;
      const seconds = this.#before === null ? 0 : Math.min(this.#wait + LONGEST_TICK, (now - this.#before) / 1000);
      this.#before = this.#playback.isPlaying ? now : null;
      this.#playback.tick(seconds);
      if (this.#asked) this.#begin();
      else if (this.#isNew && !this.#model.isOver) this.#playback.go(this.#model.latest, Infinity);
      this.#show();
      this.#rest();
    });
  }

  /** Do nothing until the next decision is due: pages with many boards have to share a processor. */
  #rest() {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#wait = this.#playback.wait;
    if (this.#wait === Infinity) {
      this.#before = null;
      this.#wait = 0;
      return;
    }
    const delay = 1000 * this.#wait - FRAME;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#draw();
      },
      this.#isTiny ? onBeat(delay) : delay,
    );
  }

  get #isTiny() {
    return this.#isEmbedded && innerWidth < TINY;
  }

  /** Show what has come; behind the newest position, it can wait for the next decision that is shown. */
  #hear() {
    if (this.#timer !== null && !this.#playback.isAtEnd) return;
    if (!this.#isTiny) return this.#draw();
    this.#beat ??= setTimeout(() => {
      this.#beat = null;
      this.#draw();
    }, onBeat());
  }

  #show() {
    const { rotation, ply } = this.#playback;
    this.#fetch(rotation);
    this.#finish();
    const names = this.#model.namesIn(rotation);
    this.table.seat(names);
    const game = this.#model.seenFrom(rotation, ply, this.#perspective);
    if (game?.isDealt) this.#showPosition(game, ply, names);
    this.scrubber.show(game, ply, this.#place(names));
    this.controls.show({
      playback: this.#playback,
      model: this.#model,
      perspective: this.#perspective,
      own: this.#source.own,
    });
    this.games?.show(rotation);
    this.#showStatus(game);
    if (!this.#isEmbedded && !this.#asked && !this.#playback.isPlaying && game?.isDealt) remember(this.#address());
  }

  /**
   * @param {Game} game
   * @param {number} ply
   * @param {string[]} names
   */
  #showPosition(game, ply, names) {
    const { rotation, isPlaying, speed } = this.#playback;
    const shown = this.#shown;
    const isNext = shown?.rotation === rotation && ply === shown.ply + 1;
    const isQuick = isPlaying && (speed === 0 || speed > SMOOTH);
    this.table.show(game, ply, isNext && !isQuick && !this.#isTiny);
    this.moves?.show(game, ply, names);
    if (ply && (shown?.rotation !== rotation || shown.ply !== ply)) {
      this.announcer.say(() => sentence(game, ply, names));
    }
    this.#shown = { rotation, ply };
    this.#isNew = false;
  }

  /**
   * Ask for what is looked at, and then for the other games.
   *
   * @param {number} rotation
   */
  #fetch(rotation) {
    this.#source.want(rotation, this.#perspective);
    if (this.#isEmbedded) return;
    const isThere = this.#model.longest(rotation)?.isDealt;
    if (!isThere) return;
    for (const other of this.#model.begun) {
      if (!this.#model.longest(other)?.isDealt) this.#source.want(other, this.#other());
    }
  }

  /** From where games are seen that nobody looks at closely. */
  #other() {
    return this.#model.isFinished ? ALL : PUBLIC;
  }

  #finish() {
    if (this.#wasOver || !this.#model.isOver) return;
    this.#wasOver = this.#model.state !== "withdrawn";
    const seats = this.#model.namesIn(this.#playback.rotation);
    if (this.#source.own.includes(this.#perspective)) this.#perspective = String(seats.indexOf(this.#perspective));
    this.#refresh(); // the result above the board, and the facts below it
  }

  /** @param {string[]} names */
  #place(names) {
    const { rotation, ply, end } = this.#playback;
    const game = this.#model.longest(rotation);
    const text = say("view_place", { game: rotation + 1, games: this.#model.match.players, ply, plies: end });
    return ply && game?.isDealt ? `${text}: ${sentence(game, ply, names)}` : text;
  }

  /** @param {Game | null} game */
  #showStatus(game) {
    const { text, way } = this.#statusOf(game);
    if (this.status.dataset.text === text) return;
    this.status.dataset.text = text;
    this.status.replaceChildren(text, ...(way ? [" ", make("a", { href: "/matches" }, say("view_to_matches"))] : []));
  }

  /**
   * @param {Game | null} game
   * @returns {{text: string, way?: boolean}}
   */
  #statusOf(game) {
    const model = this.#model;
    if (model.match.replay_removed) return { text: say("view_replay_removed"), way: true };
    if (this.#source.isGone) return { text: say("view_gone"), way: true };
    if (model.state === "failed") return { text: say("view_failed"), way: true };
    if (model.state === "cancelled") return { text: say("view_cancelled"), way: true };
    if (model.isOver && model.state === "withdrawn") return { text: say("view_withdrawn") };
    if (model.restarts) return { text: say(model.why ? `view_restarted_${model.why}` : "view_restarted_unseen") };
    if (!model.isOver && !model.begun.length) return { text: say("view_waiting") };
    if (!game?.isDealt) return { text: say("view_loading") };
    return { text: "" };
  }

  #address() {
    return addressOf(this.#playback, this.#perspective, this.#model.isFinished);
  }

  /** @param {HTMLButtonElement} button */
  async #copy(button) {
    let said = "copied";
    try {
      await navigator.clipboard.writeText(this.#address());
    } catch {
      history.replaceState(history.state, "", this.#address());
      said = "view_in_address";
    }
    button.textContent = say(said);
    setTimeout(() => (button.textContent = say("view_copy")), 2500);
  }

  #picture() {
    const { rotation, ply } = this.#playback;
    const { match } = this.#model;
    const view = this.#model.seenFrom(rotation, ply, this.#perspective)?.viewAt(ply);
    const names = this.#model.namesIn(rotation);
    const who = names.map((name, seat) => `${name} ${number(view?.scores[seat] ?? 0)}`).join(" – ");
    const what = match.number ? `${say("match", { number: match.number })}, ` : "";
    const text = say("view_place", { game: rotation + 1, games: match.players, ply, plies: this.#playback.end });
    return svgOf(must(this.table.board).element, `${who} · ${what}${text}`);
  }

  #fileName() {
    const { rotation, ply } = this.#playback;
    const { number: own, id } = this.#model.match;
    return `match-${own ?? id.slice(0, 8)}-game-${rotation + 1}-ply-${ply}`;
  }
}
