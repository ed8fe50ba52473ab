// A drawn position on the page of the rules.

import { say } from "../lib/words.js";

const figure = document.querySelector("[data-example]");
const block = document.getElementById("position");

if (figure && block) {
  const { view, names, decisions } = JSON.parse(block.textContent);
  import("../boards/board.js")
    .then(({ createBoard }) => {
      const board = createBoard(figure.dataset.example, {
        players: names.length,
        names,
        language: document.documentElement.lang,
      });
      figure.querySelector("[data-felt]").replaceChildren(board.element);
      board.show(view);
      figure.querySelector("figcaption").textContent = say("example", { count: decisions });
      figure.hidden = false;
    })
    .catch(() => {}); // without boards the rules are still the rules
}
