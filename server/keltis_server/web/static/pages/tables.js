// @ts-check
// A table: a board with who sits at it, live or from a match that was just played.
//
// On the wall tables are small. The big one also says what was decided last: it has a place for words.

import { onBeat } from "../boards/beat.js";
import { make, mark, must } from "../lib/nodes.js";
import { apply } from "../lib/patches.js";
import { entrantsBySeat } from "../lib/rotation.js";
import { number, say, wins } from "../lib/words.js";

// ms from one picture of a board to the next at the quickest, and for a game that is shown again
const SMALL = { fastest: 120, replay: 14000 };
const BIG = { fastest: 220, replay: 45000 };
const HELD = 6000; // ms for which the last position and the result stay
const SAID = 900; // ms for which words stay
const FEW = 8; // pictures: who saw no more of a match has seen nothing of it
const ENOUGH = 0.2; // of a table, that has to be in the window for it to be drawn

const still = matchMedia("(prefers-reduced-motion: reduce)");
/** @type {Promise<Boards | null> | null} */
let boards = null;

/** Load the boards once; without them a table has names and points only. */
function loadBoards() {
  boards ??= import("../boards/board.js").catch(() => null);
  return boards;
}

/** @import { openLive } from "../lib/live.js" */

/**
 * @typedef {typeof import("../boards/board.js")} Boards
 * @typedef {Pick<Wire.MatchOut, "id" | "number" | "variant" | "entrants"> | Wire.PlayedOut} Over
 */

export class Table {
  /** @type {string | null} */
  id = null;
  free = true;
  /** @type {HTMLElement} */
  #slot;
  /** @type {ReturnType<typeof openLive>} */
  #live;
  /** @type {() => void} */
  #whenFree;
  #pace;
  #isBig;
  #isNear = false; // whether somebody could see it, if the page is not hidden
  /** @type {(() => void) | null} */
  #stop = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer; // of the next step, or of the end
  /** @type {ReturnType<Boards["createBoard"]> | null} */
  #board = null;
  /** @type {Boards | null} */
  #boards = null;
  /** @type {typeof import("../narrator/narrator.js").narrate | null} */
  #narrate = null;
  /** @type {Views.Variant} */
  #variant = "keltis";
  /** @type {string[]} */
  #names = []; // by position
  /** @type {number[]} */
  #seats = [];
  /** @type {Views.View | null} */
  #view = null;
  /** @type {{notation: string, seat: number, before: Views.View, after: Views.View} | null} */
  #last = null; // the last decision: {notation, seat, before, after}
  /** @type {number[] | null} */
  #scores = null;
  #pictures = 0;
  #drawn = 0; // when
  /** @type {ReturnType<typeof setTimeout> | null} */
  #due = null;
  #saidAt = 0;

  /**
   * @param {HTMLElement} slot
   * @param {ReturnType<typeof openLive>} live
   * @param {() => void} whenFree
   * @param {{isBig?: boolean}} [look]
   */
  constructor(slot, live, whenFree, { isBig = false } = {}) {
    this.#slot = slot;
    this.#live = live;
    this.#whenFree = whenFree;
    this.#isBig = isBig;
    this.#pace = isBig ? BIG : SMALL;
    const sight = new IntersectionObserver(
      (entries) => {
        this.#isNear = entries[entries.length - 1].intersectionRatio >= ENOUGH;
        if (!this.isSeen) return;
        this.#draw();
        if (this.free) this.#whenFree();
      },
      { threshold: ENOUGH },
    );
    sight.observe(slot);
    document.addEventListener("visibilitychange", () => this.#draw());
  }

  /** Whether anybody can see it now. */
  get isSeen() {
    return this.#isNear && !document.hidden;
  }

  /**
   * Watch a match that is being played.
   *
   * @param {Wire.RunningOut} match
   */
  watch(match) {
    this.#take(match, true);
    /** @type {number | null} */
    let rotation = null;
    const begin = (/** @type {Pick<Live.Current, "rotation" | "seats" | "view">} */ game) => {
      rotation = game.rotation;
      this.#sit(game.seats);
      this.#see(game.view);
    };
    this.#stop = this.#live.follow(`match/${match.id}`, {
      snapshot: ({ current }) => {
        if (!current) return;
        begin(current);
        for (const frame of current.frames) this.#decide(frame);
      },
      event: (event) => {
        if (event.kind === "game") begin(event);
        else if (event.kind === "frame" && event.rotation === rotation && this.#view) this.#decide(event);
        else if (event.kind === "restarted") rotation = null;
      },
      end: ({ match: over }) => {
        if (over.number === null) this.leave();
        else if (this.#pictures < FEW && this.isSeen)
          this.replay(over); // too quick to be seen
        else this.#finish(over);
      },
      error: () => this.leave(),
    });
  }

  /**
   * Show the first game of a match that is over once more.
   *
   * @param {Over} match
   */
  async replay(match) {
    this.#take(match, false);
    const id = match.id;
    /** @type {Wire.FramesOut} */
    let game;
    try {
      const response = await fetch(`/api/v1/matches/${id}/games/0/frames`);
      if (!response.ok) throw new Error(response.statusText);
      game = await response.json();
    } catch {
      if (this.id === id) this.leave();
      return;
    }
    if (this.id !== id) return;
    this.#sit(game.seats);
    this.#see(game.view);
    let ply = 0;
    if (still.matches) while (ply < game.frames.length) this.#decide(game.frames[ply++]);
    const pace = Math.max(this.#pace.fastest, this.#pace.replay / (game.frames.length || 1));
    const step = () => {
      if (this.id !== id) return;
      if (ply >= game.frames.length) return this.#finish(match, game.scores);
      if (this.isSeen) this.#decide(game.frames[ply++]);
      this.#timer = setTimeout(step, pace);
    };
    step();
  }

  /**
   * Take note of how far a match is that nothing is seen of yet.
   *
   * @param {Live.Where} event
   */
  moved(event) {
    if (this.#view !== null) return;
    this.#sit(entrantsBySeat(event.rotation, this.#names.length));
    this.#scores = event.scores;
    this.#draw();
  }

  /** Free the table; what lies on it stays until somebody else sits down. */
  leave() {
    this.#end();
    this.free = true;
    this.#whenFree();
  }

  /** Free the table, and take everything off it. */
  clear() {
    this.#end();
    this.id = null;
    this.free = true;
    for (const name of ["felt", "seats", "how"]) this.#part(name).replaceChildren();
    this.#part("game").textContent = say("free");
    must(this.#slot.querySelector("a")).href = "/matches?state=playing";
  }

  /** Follow what is shown here no more. */
  #end() {
    this.#stop?.();
    this.#stop = null;
    clearTimeout(this.#timer);
  }

  /**
   * @param {Pick<Wire.MatchOut, "id" | "variant"> & {number?: number | null, entrants: {bot: string}[]}} match
   * @param {boolean} isLive
   */
  #take(match, isLive) {
    this.#end();
    this.id = match.id;
    this.free = false;
    this.#view = this.#board = this.#last = this.#scores = null;
    this.#pictures = 0;
    this.#names = match.entrants.map((entrant) => entrant.bot);
    this.#variant = match.variant;
    this.#seats = [];
    this.#link(match);
    this.#part("game").replaceChildren(mark(match.variant), make("span", {}, say(`variant.${match.variant}`)));
    this.#how(isLive);
    this.#say("");
    this.#sit(this.#names.map((_, position) => position));
    this.#load(match.id);
  }

  /** @param {string} id */
  async #load(id) {
    const found = await loadBoards();
    const told = found && this.#isBig ? await import("../narrator/narrator.js").catch(() => null) : null;
    if (!found || this.id !== id) return;
    this.#boards = found;
    this.#narrate = told?.narrate ?? null;
    this.#layBoard(found);
    this.#draw();
  }

  get #seated() {
    return this.#seats.map((position) => this.#names[position]);
  }

  /**
   * Lay a board for those who sit here now: it carries their names.
   *
   * @param {Boards} boards
   */
  #layBoard(boards) {
    const names = this.#seated;
    const language = document.documentElement.lang;
    const board = boards.createBoard(this.#variant, { players: names.length, names, small: !this.#isBig, language });
    board.element.setAttribute("aria-label", `${say(`variant.${this.#variant}`)}: ${names.join(" – ")}`);
    this.#board = board;
    this.#part("felt").replaceChildren(board.element);
    [...this.#part("seats").children].forEach((seat, index) => {
      seat.firstElementChild?.replaceChildren(boards.figureIcon(index, true));
    });
  }

  /** @param {boolean} isLive */
  #how(isLive) {
    const how = this.#part("how");
    how.textContent = say(isLive ? "live" : "just_played");
    how.dataset.live = isLive ? "yes" : "no";
  }

  /** @param {{id: string, number?: number | null}} match */
  #link(match) {
    must(this.#slot.querySelector("a")).href = `/matches/${match.number ?? match.id}`;
  }

  /**
   * Put names on the seats; who sits where changes from game to game.
   *
   * @param {number[]} seats
   */
  #sit(seats) {
    if (seats.length === this.#seats.length && seats.every((position, seat) => position === this.#seats[seat])) return;
    this.#seats = seats;
    this.#view = this.#last = this.#scores = null; // it was another game
    const kind = this.#part("seats").tagName === "UL" ? "li" : "span";
    this.#part("seats").replaceChildren(
      ...this.#seated.map((name) =>
        make(
          kind,
          { class: "seat" },
          make("span", { class: "peg" }),
          make("span", { class: "name" }, name),
          make("span", { class: "score" }),
        ),
      ),
    );
    if (this.#boards) this.#layBoard(this.#boards);
  }

  /** @param {Wire.FrameOut} frame */
  #decide(frame) {
    const before = this.#view;
    if (!before) return;
    const after = apply(frame.patch, before);
    this.#see(after);
    this.#last = { notation: frame.notation, seat: frame.seat, before, after };
  }

  /**
   * Show a view soon: not more often than people see.
   *
   * @param {Views.View} view
   */
  #see(view) {
    this.#view = view;
    this.#last = null;
    this.#scores = view.scores;
    if (this.#due !== null || !this.#board || !this.isSeen) return;
    const wait = Math.max(0, this.#drawn + this.#pace.fastest - performance.now());
    const delay = this.#isBig ? wait : onBeat(wait);
    this.#due = setTimeout(() => {
      this.#due = null;
      this.#draw();
    }, delay);
  }

  #draw() {
    if (!this.isSeen || this.free) return;
    const scores = this.#scores;
    if (scores) {
      [...this.#part("seats").children].forEach((seat, index) => {
        const text = number(scores[index] ?? 0);
        const score = seat.lastElementChild;
        if (score && score.textContent !== text) score.textContent = text;
      });
    }
    if (!this.#board || !this.#view) return;
    this.#drawn = performance.now();
    this.#pictures++;
    if (!this.#isBig) return this.#board.show(this.#view);
    this.#board.show(this.#view, { animate: true, previous: this.#last?.before });
    if (this.#last && this.#narrate && this.#drawn - this.#saidAt > SAID) {
      this.#saidAt = this.#drawn;
      const { seat } = this.#last;
      this.#say(this.#narrate({ ...this.#last, name: this.#seated[seat], language: document.documentElement.lang }));
    }
  }

  /** @param {string} text */
  #say(text) {
    const said = this.#slot.querySelector("[data-said]"); // only the big one has it
    if (said) said.textContent = text;
  }

  /**
   * @param {Over} match
   * @param {number[] | null} [scores]
   */
  #finish(match, scores = this.#scores) {
    this.#how(false);
    this.#link(match);
    this.#scores = scores;
    this.#draw();
    const firsts = match.entrants.filter((each) => each.rank === 1);
    const winner = firsts.length === 1 ? firsts[0].bot : null;
    const level = match.entrants.filter((each) => each.wins === firsts[0]?.wins).length > 1;
    [...this.#part("seats").children].forEach((seat, index) => {
      seat.classList.toggle("first", this.#seated[index] === winner);
    });
    const games = this.#seats.map((position) => wins(match.entrants[position].wins ?? 0)).join(" : ");
    this.#say(say(winner ? (level ? "table_points" : "table_won") : "table_drawn", { bot: winner, games }));
    this.#timer = setTimeout(() => this.leave(), HELD);
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  #part(name) {
    return must(this.#slot.querySelector(`[data-${name}]`));
  }
}
