// What tests ask a page: what is on a drawing, and whether drawings agree.

import { createBoard, createPlayers } from "/static/boards/board.js";
import { narrate } from "/static/narrator/narrator.js";

function tally(nodes, say) {
  return [...nodes].map(say).sort();
}

function list(nodes) {
  return [...nodes].map((node) => node.dataset.card);
}

function make(view, options) {
  const given = { players: view.players, ...options };
  const stage = document.getElementById("gallery");
  const board = createBoard(view.variant, given);
  const players = createPlayers(view.variant, given);
  stage.replaceChildren(board.element, players.element);
  return {
    board,
    players,
    show(shown, how) {
      board.show(shown, how);
      players.show(shown, how);
    },
    get markup() {
      return board.element.outerHTML + players.element.outerHTML;
    },
  };
}

/** Everything that lies on the drawing of a view, in words that a test can make from the view. */
function summary(board, players) {
  const onBoard = (selector) => board.element.querySelectorAll(selector);
  const beside = (selector) => players.element.querySelectorAll(selector);
  const said = (selector, say) => tally(onBoard(selector), ({ dataset }) => say(dataset));
  return {
    figures: said(".figures [data-figure]", (d) => `${d.figure} ${d.size} ${d.field}`),
    tiles: said(".tiles > [data-tile]", (d) => `${d.field} ${d.tile}`),
    stacks: said("[data-stack]", (d) => `${d.field} ${d.stack}`),
    goal: onBoard(".goal-peg.full").length,
    places: Object.fromEntries(said("[data-place]", (d) => [d.place, d.state])),
    wishRow: said(".wishes [data-wish]", (d) => d.wish),
    wishes: said(".marks [data-wish]", (d) => `${d.owner} ${d.wish}`),
    tableRows: said("[data-row]", (d) => `${d.row} ${d.card}`),
    tablePiles: said("[data-pile]", (d) => `${d.pile} ${d.card} ${d.count} ${"closed" in d}`),
    tableDraw: said("[data-draw-pile]", (d) => d.drawPile),
    rows: [...beside(".player")].map(rowsOf),
    hands: [...beside(".hand")].map((hand) => ({
      open: list(hand.querySelectorAll("[data-card]:not([data-seen])")),
      seen: list(hand.querySelectorAll("[data-seen]")),
      backs: hand.querySelectorAll("[data-back]").length,
    })),
    piles: tally(beside(".piles [data-pile]"), (pile) => {
      const top = pile.querySelector(".card")?.dataset.card ?? "";
      const isClosed = pile.classList.contains("is-closed");
      return `${pile.dataset.pile} ${top} ${pile.dataset.count} ${isClosed}`;
    }),
    draw: [...beside(".draw-pile-size")].map((node) => node.textContent),
    scores: [...beside(".player-score")].map((node) => numberIn(node.textContent)),
    deciding: [...beside(".player.is-to-decide")].map((node) => Number(node.dataset.seat)),
    cards: [...new Set([...list(onBoard("[data-card]")), ...list(beside("[data-card]"))])].sort(),
  };
}

function rowsOf(player) {
  const rows = [...player.querySelectorAll(".row")];
  const cardsOf = (row) => list(row.querySelectorAll(".card"));
  return Object.fromEntries(rows.map((row) => [row.dataset.row, cardsOf(row)]));
}

function numberIn(text) {
  return Number(text.replace("−", "-"));
}

window.probe = {
  /** Show views one after the other and say what is drawn of each. */
  summaries(views, options) {
    const drawn = make(views[0], options);
    return views.map((view) => {
      drawn.show(view);
      return summary(drawn.board, drawn.players);
    });
  },

  /** Show views one after the other; the places at which a fresh drawing differs. */
  differences(views, options) {
    const going = make(views[0], options);
    const found = [];
    views.forEach((view, k) => {
      const how = { previous: views[k - 1] };
      going.show(view, how);
      const markup = going.markup;
      const fresh = make(view, options);
      fresh.show(view, how);
      if (fresh.markup !== markup) found.push(k);
    });
    return found;
  },

  /** Milliseconds that it takes to show each view after the first. */
  durations(views, how) {
    const drawn = make(views[0]);
    drawn.show(views[0]);
    document.body.getBoundingClientRect();
    return views.slice(1).map((view, k) => {
      const begin = performance.now();
      drawn.show(view, { previous: views[k], ...how });
      const shown = performance.now() - begin;
      document.body.getBoundingClientRect(); // the layout of this frame does not count for the next
      return shown;
    });
  },

  /** Show two views with motion: how much moves, and whether the drawing comes to rest. */
  async motion(first, second) {
    const drawn = make(first);
    drawn.show(first);
    drawn.show(second, { animate: true, previous: first });
    await new Promise(requestAnimationFrame);
    const running = document.getAnimations();
    await Promise.all(running.map((animation) => animation.finished));
    const fresh = make(second);
    fresh.show(second, { previous: first });
    return { moving: running.length, isAtRest: fresh.markup === drawn.markup };
  },

  /** Show a view and keep it; then say how it is arranged, now and later. */
  kept(view) {
    this.drawn = make(view);
    this.drawn.show(view);
    return this.keptNow();
  },

  async keptNow() {
    // Let the page be laid out.
    for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
    const { board, players } = this.drawn;
    return {
      form: board.element.querySelector(".board-front").getAttribute("viewBox"),
      summary: summary(board, players),
      overflow: document.documentElement.scrollWidth - innerWidth,
    };
  },

  /** What the page says of each view, tags and all. */
  markups(views) {
    return views.map((view) => {
      const drawn = make(view);
      drawn.show(view);
      return drawn.markup;
    });
  },

  /** The colour classes and symbols of every card and every open tile. */
  signs(views) {
    return views.flatMap((view) => this.signsOf(view));
  },

  signsOf(view) {
    const drawn = make(view);
    drawn.show(view);
    const all = document.querySelectorAll("[data-card], .stone-tile");
    return [...all].map((node) => {
      const parts = [node, ...node.querySelectorAll("*")];
      return {
        letter: (node.dataset.card ?? node.dataset.tile)[0],
        classes: parts.flatMap((part) => [...part.classList]),
        symbols: parts.flatMap((part) => part.dataset.symbol ?? []),
      };
    });
  },

  narrations(steps) {
    return steps.map(narrate);
  },

  descriptions(views, language) {
    const { variant, players } = views[0];
    const board = createBoard(variant, { players, language });
    return views.map((view) => board.describe(view));
  },
};
