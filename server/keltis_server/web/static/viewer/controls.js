// @ts-check
// The buttons below the scrubber: going, stepping, speed, perspective, and what to take along.

import { Memory } from "../boards/memory.js";
import { well } from "../boards/svg.js";
import { put } from "../boards/texts.js";
import { draw, make } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";
import { ALL, PUBLIC } from "./model.js";
import { PAGE, SPEEDS } from "./playback.js";

/** @import { MatchModel } from "./model.js" */
/** @import { Playback } from "./playback.js" */

const ICONS = {
  play: "M7 4.5v15l12-7.5Z",
  pause: "M7 5h3.5v14H7ZM13.5 5H17v14h-3.5Z",
  first: "M6 5h2v14H6ZM19 5v14L9 12Z",
  last: "M16 5h2v14h-2ZM5 5v14l10-7Z",
  back: "M16 5v14L6 12Z",
  forth: "M8 5v14l10-7Z",
  back10: "M12 5v14l-9-7ZM21 5v14l-9-7Z",
  forth10: "M12 5v14l9-7ZM3 5v14l9-7Z",
};

export class Controls {
  /** @type {HTMLButtonElement} */
  #play;
  #playIcon = icon("play");
  #playText = make("span", { class: "wide-only" });
  #live = make("button", { type: "button", class: "go-live" });
  #place = make("span", { class: "place number" });
  #speed = make("select", {});
  #sight = make("select", {});
  #shown = new Memory();
  /** @type {HTMLButtonElement[]} */
  #backward = [];
  /** @type {HTMLButtonElement[]} */
  #forward = [];

  /**
   * @param {Viewing.Actions} actions
   * @param {{isEmbedded: boolean, isOver: boolean, address: string}} about
   */
  constructor(actions, { isEmbedded, isOver, address }) {
    this.#play = make(
      "button",
      { type: "button", class: "play", "aria-keyshortcuts": "Space" },
      this.#playIcon,
      this.#playText,
    );
    this.#play.addEventListener("click", actions.pause);
    this.#live.addEventListener("click", actions.live);
    /** @type {(name: keyof typeof ICONS, label: string, key: string, act: () => void) => HTMLButtonElement} */
    const step = (name, label, key, act) => {
      const node = make(
        "button",
        { type: "button", class: "step", "aria-label": label, title: `${label} (${key})` },
        icon(name),
      );
      node.addEventListener("click", act);
      return node;
    };
    this.#backward = [
      step("first", say("view_first"), "Home", () => actions.seek(0)),
      step("back10", say("view_back_ten"), "PageUp", () => actions.step(-PAGE)),
      step("back", say("view_back"), "←", () => actions.step(-1)),
    ];
    this.#forward = [
      step("forth", say("view_forth"), "→", () => actions.step(1)),
      step("forth10", say("view_forth_ten"), "PageDown", () => actions.step(PAGE)),
      step("last", say("view_last"), "End", () => actions.seek(Infinity)),
    ];
    const event = button(say("view_event"), actions.nextEvent, { title: `${say("view_event_title")} (e)` });
    const steps = make(
      "div",
      { class: "steps", role: "group", "aria-label": say("view_steps") },
      ...this.#backward,
      this.#play,
      ...this.#forward,
    );
    this.#speed.append(
      ...SPEEDS.map((speed) =>
        make("option", { value: speed }, speed ? say("view_speed", { count: speed }) : say("view_as_they_come")),
      ),
    );
    this.#speed.addEventListener("change", () => actions.setSpeed(Number(this.#speed.value)));
    this.#sight.addEventListener("change", () => actions.see(this.#sight.value));
    // What goes when a match ends keeps its place, so that nothing jumps; afterwards nobody needs it.
    this.#live.hidden = isOver;
    this.element = make("div", { class: "controls" }, steps, well("place-well", this.#place), this.#live);
    if (isEmbedded) return;
    this.element.append(
      event,
      make("label", { class: "choice" }, make("span", {}, say("view_speed_label")), this.#speed),
      make("label", { class: "choice" }, make("span", {}, say("view_sight")), this.#sight),
    );
    this.replay = make("a", { class: "take", href: `${address}/replay`, download: true }, say("view_replay"));
    this.copy = button(say("view_copy"), actions.copy, { class: "take" });
    this.extras = make(
      "p",
      { class: "extras" },
      this.copy,
      button(say("view_svg"), actions.saveSvg, { class: "take" }),
      button(say("view_png"), actions.savePng, { class: "take" }),
      button(say("view_help"), actions.help, { class: "take", "aria-keyshortcuts": "?" }),
      this.replay,
    );
  }

  /** @param {{playback: Playback, model: MatchModel, perspective: string, own: string[]}} shown */
  show({ playback, model, perspective, own }) {
    const { isPlaying } = playback;
    if (this.#shown.isNew("playing", isPlaying)) {
      const label = say(isPlaying ? "view_pause" : "view_play");
      put(this.#playText, label);
      this.#play.setAttribute("aria-label", label);
      this.#play.title = `${label} (${say("view_space")})`;
      this.#playIcon.firstElementChild?.setAttribute("d", ICONS[isPlaying ? "pause" : "play"]);
    }
    for (const node of this.#backward) able(node, playback.ply > 0);
    for (const node of this.#forward) able(node, !playback.isAtEnd);
    put(
      this.#place,
      say("view_place", {
        game: playback.rotation + 1,
        games: model.match.players,
        ply: number(playback.ply),
        plies: number(playback.end),
      }),
    );
    this.#showLive(playback, model);
    if (this.#speed.value !== String(playback.speed)) this.#speed.value = String(playback.speed);
    if (this.#shown.isNew("offered", model.isFinished, playback.rotation, own.length)) {
      this.#offer(model, playback.rotation, own);
      this.replay?.classList.toggle("is-away", !model.isFinished);
    }
    if (this.#sight.value !== perspective) this.#sight.value = perspective;
  }

  /**
   * @param {Playback} playback
   * @param {MatchModel} model
   */
  #showLive(playback, model) {
    const { behind, isLive } = playback;
    if (!this.#shown.isNew("live", model.isOver, isLive, behind)) return;
    this.#live.classList.toggle("is-away", model.isOver);
    this.#live.classList.toggle("is-live", isLive);
    put(this.#live, isLive || !behind ? say("view_live") : say("view_behind", { count: number(behind) }));
  }

  /**
   * Offer the perspectives that there are: the server decides which.
   *
   * @param {MatchModel} model
   * @param {number} rotation
   * @param {string[]} own
   */
  #offer(model, rotation, own) {
    const names = model.namesIn(rotation);
    const offered = model.isFinished
      ? [
          [ALL, say("view_all")],
          [PUBLIC, say("view_public")],
          ...names.map((name, seat) => [String(seat), say("view_eyes", { name })]),
        ]
      : [[PUBLIC, say("view_public")], ...own.map((bot) => [bot, say("view_own", { name: bot })])];
    this.#sight.replaceChildren(...offered.map(([value, label]) => make("option", { value }, label)));
    this.#sight.disabled = offered.length < 2;
    this.#sight.title = model.isFinished ? "" : say("view_later");
  }
}

/**
 * @param {string} text
 * @param {(node: HTMLButtonElement) => void} act
 * @param {Drawing.Attributes} [attributes]
 */
function button(text, act, attributes = {}) {
  const node = make("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", () => act(node));
  return node;
}

/**
 * A button that cannot do anything now keeps the focus, so that keys are not lost.
 *
 * @param {HTMLElement} node
 * @param {boolean} isAble
 */
function able(node, isAble) {
  if (isAble === !node.hasAttribute("aria-disabled")) return;
  if (isAble) node.removeAttribute("aria-disabled");
  else node.setAttribute("aria-disabled", "true");
}

/** @param {keyof typeof ICONS} name */
function icon(name) {
  return draw(
    "svg",
    { viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true" },
    draw("path", { d: ICONS[name], fill: "currentColor" }),
  );
}
