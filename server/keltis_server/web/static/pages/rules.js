// @ts-check
// A drawn position on the page of the rules.

import { must } from "../lib/nodes.js";
import { say } from "../lib/words.js";

/** @type {HTMLElement | null} */
const figure = document.querySelector("[data-example]");
const block = document.getElementById("position");

if (figure && block) {
  /** @type {{view: Views.View, names: string[], decisions: number}} */
  const { view, names, decisions } = JSON.parse(block.textContent);
  import("../boards/board.js")
    .then(({ createBoard }) => {
      const board = createBoard(view.variant, {
        players: names.length,
        names,
        language: document.documentElement.lang,
      });
      must(figure.querySelector("[data-felt]")).replaceChildren(board.element);
      board.show(view);
      must(figure.querySelector("figcaption")).textContent = say("example", { count: decisions });
      figure.hidden = false;
    })
    .catch(() => {}); // without boards the rules are still the rules
}
