// @ts-check
// Says politely what happens, to those who do not see it: about once a second, the last word wins.

import { onBeat } from "../boards/beat.js";
import { put } from "../boards/texts.js";
import { make } from "../lib/nodes.js";

const SOON = 100; // ms
const SPEAKING_PAUSE_MS = 1000;

export class Announcer {
  element = make("p", { class: "hidden", role: "status", "aria-live": "polite" });
  /** @type {(() => string) | null} */
  #next = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;

  /**
   * Say something soon; `compose` is called when it is time.
   *
   * @param {() => string} compose
   */
  say(compose) {
    this.#next = compose;
    this.#timer ??= setTimeout(() => this.#speak(), onBeat(SOON));
  }

  #speak() {
    const compose = this.#next;
    this.#next = null;
    if (compose === null) {
      this.#timer = null;
      return;
    }
    put(this.element, compose());
    this.#timer = setTimeout(() => this.#speak(), onBeat(SPEAKING_PAUSE_MS));
  }
}
