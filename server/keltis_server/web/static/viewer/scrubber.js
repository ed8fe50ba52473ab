// @ts-check
// The scrubber: a slider over the decisions of a game, and above it how the points went.

import { well } from "../boards/svg.js";
import { draw, make } from "../lib/nodes.js";
import { say } from "../lib/words.js";

/** @import { Game } from "./model.js" */

const HEIGHT = 100; // of the drawing, in units of its own

export class Scrubber {
  #drawn = ""; // what the drawing depends on
  #shown = "";
  #input = make("input", {
    type: "range",
    min: 0,
    max: 0,
    value: 0,
    step: 1,
    class: "track",
    "aria-label": say("view_track"),
  });
  /** @type {Game | null} */
  #game = null;
  #zero = draw("path", { class: "track-zero" });
  /** @type {SVGPathElement[]} */
  #lines = []; // by seat
  #events = draw("g", {});
  #faults = draw("g", {});
  #place = draw("line", { class: "track-place", y1: 0, y2: HEIGHT });
  #chart = draw("svg", {
    class: "track-chart",
    viewBox: `0 0 1 ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });

  /** @param {(ply: number) => void} seek */
  constructor(seek) {
    this.element = make("div", { class: "scrubber" }, well("chart-well", this.#chart), well("track-well", this.#input));
    this.#input.addEventListener("input", () => seek(this.#input.valueAsNumber));
  }

  /**
   * @param {Game | null} game
   * @param {number} ply
   * @param {string} text
   */
  show(game, ply, text) {
    const plies = game?.plies ?? 0;
    // A slider that somebody holds must not be changed below the finger more than needed.
    if (this.#input.max !== String(plies)) this.#input.max = String(plies);
    if (this.#input.valueAsNumber !== ply) this.#input.value = String(ply);
    if (game?.isDealt) this.#draw(game, plies);
    const shown = `${ply} ${plies} ${text}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#input.disabled = plies === 0;
    this.#input.setAttribute("aria-valuetext", text);
    this.#input.style.setProperty("--share", String(plies ? ply / plies : 0));
    this.#place.setAttribute("x1", String(ply));
    this.#place.setAttribute("x2", String(ply));
  }

  /**
   * @param {Game} game
   * @param {number} plies
   */
  #draw(game, plies) {
    const drawn = `${plies} ${game.faults.length} ${game.ended}`;
    if (game !== this.#game) this.#begin(game);
    else if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const series = [game.viewAt(0).scores, ...game.frames.map((frame) => frame.scores)];
    const all = series.flat();
    const low = Math.min(...all);
    const high = Math.max(...all, low + 10);
    const y = (/** @type {number} */ points) =>
      (HEIGHT * (1 - 0.06 - (0.88 * (points - low)) / (high - low))).toFixed(1);
    this.#chart.setAttribute("viewBox", `0 0 ${Math.max(plies, 1)} ${HEIGHT}`);
    this.#zero.setAttribute("d", low < 0 ? `M0 ${y(0)}H${plies}` : "");
    this.#lines.forEach((line, seat) => line.setAttribute("d", steps(series.map((scores) => y(scores[seat])))));
    const tick = (/** @type {number} */ at, /** @type {"event" | "fault"} */ kind) =>
      draw("line", { class: `track-${kind}`, x1: at, x2: at, y1: kind === "fault" ? 0 : HEIGHT - 9, y2: HEIGHT });
    this.#events.append(...game.events.slice(this.#events.childElementCount).map((at) => tick(at, "event")));
    this.#faults.replaceChildren(...game.faults.map((fault) => tick(Math.min(fault.ply, plies), "fault")));
  }

  /** @param {Game} game */
  #begin(game) {
    this.#game = game;
    this.#lines = game.seats.map((_, seat) => draw("path", { class: `track-line player-${seat}` }));
    this.#events.replaceChildren();
    this.#chart.replaceChildren(this.#zero, ...this.#lines, this.#events, this.#faults, this.#place);
  }
}

/** @param {string[]} heights */
function steps(heights) {
  let path = `M0 ${heights[0]}`;
  heights.forEach((height, ply) => {
    if (ply && height !== heights[ply - 1]) path += `H${ply}V${height}`;
  });
  return `${path}H${heights.length - 1}`;
}
