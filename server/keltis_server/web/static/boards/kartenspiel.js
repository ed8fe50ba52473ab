// @ts-check
// The table of `kartenspiel`: wish stones and piles in the middle, everybody's rows fanned below.

import { DATA } from "./data.js";
import { Memory } from "./memory.js";
import { drawnBack, drawnCard, figure, wishStone } from "./pieces.js";
import { Stage } from "./stage.js";
import { at, label, round, svg } from "./svg.js";
import { LETTERS, SYMBOL_NAMES, symbol } from "./symbols.js";
import { signed } from "./words.js";

/** @type {Views.Letter[]} */
const COLUMNS = [...LETTERS, "P"];
const WISHES = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const ROW_SCORES = DATA.rowScores;

const LARGE = {
  width: 900,
  margin: 14,
  gap: 26,
  wish: 30,
  pile: { width: 62, height: 86 },
  ratio: 1.4,
  most: 64,
  fan: 290,
  head: 40,
  name: 19,
  worth: 17,
  wished: 12,
  step: 0.37,
};
// On a phone: never more than two side by side.
const NARROW = {
  width: 600,
  margin: 6,
  gap: 18,
  wish: 27,
  pile: { width: 58, height: 80 },
  ratio: 1.5,
  most: 50,
  fan: 214,
  head: 44,
  name: 23,
  worth: 20,
  wished: 13,
  step: 0.34,
};
// On a wall of matches: of each row only its last card is whole.
const SMALL = {
  width: 500,
  margin: 6,
  gap: 10,
  wish: 24,
  pile: { width: 58, height: 52 },
  ratio: 0.68,
  most: 74,
  fan: 104,
  head: 40,
  name: 24,
  worth: 20,
  wished: 13,
  step: 0.22,
};
const SIZES = { large: LARGE, narrow: NARROW, small: SMALL };

/**
 * Where the rows of a seat lie.
 *
 * @typedef {Drawing.Box & {seat: number, column: number, card: Drawing.Size, room: number, top: number}} Area
 */

export class KartenspielBoard {
  #shown = new Memory();

  /** @param {Drawing.Wanted} wanted */
  constructor({ players, names, form, words }) {
    const small = form === "small";
    this.form = form;
    this.size = SIZES[form];
    this.words = words;
    const { width, margin, gap, wish, pile } = this.size;
    this.wishes = { y: margin + wish + 4, step: (width - 2 * margin) / WISHES.length };
    this.piles = {
      y: this.wishes.y + wish + gap * 0.8,
      step: (width - 2 * margin) / (COLUMNS.length + 1),
    };
    this.areas = this.#areas(players, this.piles.y + pile.height + gap * (small ? 1.2 : 1.5));
    const last = this.areas[players - 1];
    this.stage = new Stage("kartenspiel", width, last.y + last.height + margin, small);
    this.element = this.stage.element;
    const grounds = this.areas.map((area) => this.#ground(area, names[area.seat]));
    this.stage.back.append(...this.#middle(), ...grounds);
    this.layers = {
      wishes: this.stage.layer("wishes"),
      piles: this.stage.layer("piles"),
      marks: this.stage.layer("marks"),
      cards: this.stage.layer("cards"),
    };
  }

  /**
   * Where each player's rows lie: side by side, four of them in two lines.
   *
   * @param {number} players
   * @param {number} top
   * @returns {Area[]}
   */
  #areas(players, top) {
    const { width, margin, gap, head, fan, most, ratio } = this.size;
    const across = { large: players === 3 ? 3 : 2, narrow: 2, small: 1 }[this.form];
    const share = (width - 2 * margin - gap * (across - 1)) / across;
    const column = share / (COLUMNS.length + 0.25);
    const card = Math.min(most, column - 4);
    const room = Math.min(fan, card * ratio * 4.2); // enough for a row of nine
    const height = head + 24 + room;
    return Array.from({ length: players }, (_, seat) => ({
      seat,
      x: margin + (seat % across) * (share + gap),
      y: top + Math.floor(seat / across) * (height + gap),
      width: share,
      height,
      column,
      card: { width: round(card), height: round(card * ratio) },
      room,
      top: head + 22,
    }));
  }

  /**
   * @param {Area} area
   * @param {number} k
   */
  #columnX(area, k) {
    // The points row stands a little apart.
    const column = COLUMNS[k] === "P" ? k + 0.25 : k;
    return round(area.x + area.column * column + (area.column - area.card.width) / 2);
  }

  #middle() {
    const { pile, wish } = this.size;
    const spots = WISHES.map((value) =>
      svg("circle", { class: "wish-spot", cx: this.#wishX(value), cy: this.wishes.y, r: wish - 5 }),
    );
    const piles = COLUMNS.map((letter, k) =>
      emptySpot(letter, this.#pileX(k + 1), this.piles.y, pile.width, pile.height),
    );
    return [...spots, ...piles];
  }

  /** @param {number} value */
  #wishX(value) {
    return round(this.size.margin + this.wishes.step * (value - 0.5));
  }

  /** @param {number} k */
  #pileX(k) {
    return round(this.size.margin + this.piles.step * (k + 0.5) - this.size.pile.width / 2);
  }

  /**
   * @param {Area} area
   * @param {string} called
   */
  #ground(area, called) {
    const { name } = this.size;
    const { width, height } = area.card;
    const base = area.y + name + 2;
    const room = area.width * 0.56 - 27;
    return svg(
      "g",
      {},
      svg("path", { class: "area-line", d: `M${area.x} ${round(area.y - 6)}h${area.width}` }),
      svg("g", { transform: at(area.x + 11, base + 2) }, figure(area.seat, false, name / 24)),
      label("area-name", fitted(called, room, name), name, area.x + 27, base - name * 0.4),
      ...COLUMNS.map((letter, k) => emptySpot(letter, this.#columnX(area, k), area.y + area.top, width, height)),
    );
  }

  /**
   * @param {Views.Kartenspiel} view
   * @param {Drawing.How<Views.Kartenspiel>} how
   */
  show(view, { moving, previous }) {
    const { wishes, piles, marks, cards } = this.layers;
    const { rows, points_rows: points } = view;
    const isNew = (/** @type {string} */ name, /** @type {unknown[]} */ ...parts) => this.#shown.isNew(name, ...parts);
    if (isNew("wishes", view.wish_row)) wishes.show(this.#wishPieces(view), moving);
    if (isNew("piles", view.pile, view.piles, view.closed)) piles.show(this.#pilePieces(view), moving);
    if (isNew("marks", view.wish_stones, rows, points)) {
      marks.show(
        this.areas.flatMap((area) => this.#marks(view, area)),
        moving,
      );
    }
    if (isNew("cards", rows, points, previous?.rows, previous?.points_rows)) {
      cards.show(
        this.areas.flatMap((area) => this.#rows(view, area, previous)),
        moving,
      );
    }
  }

  /**
   * @param {Views.Kartenspiel} view
   * @returns {Drawing.Piece[]}
   */
  #wishPieces(view) {
    return view.wish_row.map((value) => ({
      key: `${value}`,
      look: "stone",
      x: this.#wishX(value),
      y: this.wishes.y,
      draw: () => wishStone(value, this.size.wish),
    }));
  }

  /**
   * @param {Views.Kartenspiel} view
   * @returns {Drawing.Piece[]}
   */
  #pilePieces(view) {
    const { pile } = this.size;
    const drawPile = {
      key: "draw",
      look: `${view.pile.size}`,
      x: this.#pileX(0),
      y: this.piles.y,
      draw: () => drawnBack(view.pile.size, pile.width, pile.height),
    };
    const discards = COLUMNS.flatMap((letter, k) => {
      const cards = view.piles[letter];
      if (!cards.length) return [];
      const isClosed = view.closed.includes(letter);
      const top = cards[cards.length - 1];
      return [
        {
          key: letter,
          look: `${top} ${cards.length} ${isClosed}`,
          x: this.#pileX(k + 1),
          y: this.piles.y,
          enter: { x: 0, y: 24 },
          draw: () => this.#drawnPile(top, cards.length, isClosed, letter),
        },
      ];
    });
    return [drawPile, ...discards];
  }

  /**
   * @param {string} top
   * @param {number} count
   * @param {boolean} isClosed
   * @param {Views.Letter} letter
   */
  #drawnPile(top, count, isClosed, letter) {
    const { pile } = this.size;
    const { width, height } = pile;
    const node = drawnCard(top, width, height);
    node.setAttribute("data-pile", letter);
    node.setAttribute("data-count", String(count));
    const shape = { width, height, rx: round(Math.min(width, height) * 0.12) };
    if (count > 1) {
      const kind = `card-body fill-${letter} edge-${letter}`;
      node.prepend(svg("rect", { class: kind, x: 3, y: 3.5, ...shape }));
    }
    if (isClosed) {
      node.append(svg("rect", { class: "closed-veil", ...shape, fill: "url(#keltis-hatching)" }));
      node.setAttribute("data-closed", "");
    }
    if (this.form === "small") return node;
    const text = isClosed ? `${count} · ${this.words.closed}` : count;
    node.append(label("pile-count", text, this.size.worth, width / 2, height + 13));
    return node;
  }

  /**
   * What a player has beside the cards: wish stones, and the worth of each row.
   *
   * @param {Views.Kartenspiel} view
   * @param {Area} area
   * @returns {Drawing.Piece[]}
   */
  #marks(view, area) {
    const { wished, worth, name } = this.size;
    const own = view.wish_stones[area.seat];
    const step = Math.min(wished * 2.1, (area.width * 0.4) / own.length);
    const stones = own.map((value, k) => ({
      key: `${area.seat} wish ${value}`,
      look: "stone",
      x: round(area.x + area.width - wished - (own.length - 1 - k) * step),
      y: round(area.y + name * 0.72),
      enter: { x: 0, y: -16 },
      draw: () => wishStone(value, wished, area.seat),
    }));
    const worths = COLUMNS.map((letter, k) => ({ k, length: rowOf(view, area.seat, letter).length, letter }))
      .filter(({ length }) => length > 0)
      .map(({ k, length, letter }) => {
        const points = letter === "P" ? length : worthOf(length);
        const kind = `row-worth row-worth-${points < 0 ? "below" : "above"}`;
        return {
          key: `${area.seat} worth ${letter}`,
          look: `${points}`,
          x: round(this.#columnX(area, k) + area.card.width / 2),
          y: round(area.y + area.top - 7 - worth * 0.36),
          draw: () => label(kind, signed(points), worth),
        };
      });
    return [...stones, ...worths];
  }

  /**
   * @param {Views.Kartenspiel} view
   * @param {Area} area
   * @param {Views.Kartenspiel | null} previous
   * @returns {Drawing.Piece[]}
   */
  #rows(view, area, previous) {
    return COLUMNS.flatMap((letter, k) => {
      const cards = rowOf(view, area.seat, letter);
      const isLonger = previous && cards.length > rowOf(previous, area.seat, letter).length;
      const room = area.room - area.card.height - 6;
      const gaps = Math.max(1, cards.length - 1);
      const step = Math.min(area.card.height * this.size.step, room / gaps);
      return cards.map((name, index) => {
        const isLast = index === cards.length - 1;
        const isCovered = this.form === "small" && !isLast;
        const isRecent = isLast && isLonger;
        return {
          key: `${area.seat} ${letter} ${index}`,
          look: `${name} ${isCovered} ${isRecent}`,
          x: this.#columnX(area, k),
          y: round(area.y + area.top + step * index),
          enter: { x: 0, y: 40 },
          draw: () => {
            const node = drawnCard(name, area.card.width, area.card.height, isCovered);
            node.setAttribute("data-row", `${area.seat} ${letter}`);
            if (isRecent) node.classList.add("is-recent");
            return node;
          },
        };
      });
    });
  }
}

/** @param {number} length */
function worthOf(length) {
  return ROW_SCORES[Math.min(length, ROW_SCORES.length - 1)];
}

/**
 * @param {Views.Kartenspiel} view
 * @param {number} seat
 * @param {Views.Letter} letter
 */
function rowOf(view, seat, letter) {
  return letter === "P" ? view.points_rows[seat] : view.rows[seat][letter];
}

/**
 * A name cut to the room there is: drawn text does not cut itself.
 *
 * @param {string} name
 * @param {number} room
 * @param {number} size
 */
function fitted(name, room, size) {
  const most = Math.floor(room / (size * 0.52));
  return name.length > most ? `${name.slice(0, most - 1).trimEnd()}…` : name;
}

/**
 * Where a row or a pile will begin.
 *
 * @param {Views.Letter} letter
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function emptySpot(letter, x, y, width, height) {
  return svg(
    "g",
    { class: `spot line-${letter}` },
    svg("rect", { x: round(x), y: round(y), width: round(width), height: round(height), rx: round(width * 0.12) }),
    symbol(SYMBOL_NAMES[letter], round(Math.min(width, height) * 0.46), x + width / 2, y + height / 2),
  );
}
