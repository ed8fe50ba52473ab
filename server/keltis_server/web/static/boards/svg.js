// @ts-check
// Building blocks for drawings: elements, and layers that touch only what changed.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an SVG element with attributes and children.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Drawing.Attributes} [attributes]
 * @param {(Node | string)[]} children
 */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/**
 * Make an HTML element with attributes and children.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Drawing.Attributes} [attributes]
 * @param {(Node | string)[]} children
 */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * Put something that changes all the time into a place of a fixed size.
 *
 * Within, it is laid out without anything around it, as long as it is neither part of a grid nor of a line: so it
 * lies in a place that is. CSS says how large that is.
 *
 * @param {string} kind
 * @param {Element} node
 */
export function well(kind, node) {
  return html("span", { class: `well ${kind}` }, node);
}

/**
 * @template {Element} Kind
 * @param {Kind} node
 * @param {Drawing.Attributes} attributes
 * @param {(Node | string)[]} children
 */
function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(key, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * A number as short as it can be written in an attribute.
 *
 * @param {number} number
 */
export function round(number) {
  return Math.round(number * 100) / 100;
}

/**
 * @param {number} x
 * @param {number} y
 */
export function at(x, y) {
  return `translate(${round(x)} ${round(y)})`;
}

/**
 * A text whose middle is at a point; CSS decides where it begins.
 *
 * @param {string} kind
 * @param {string | number} text
 * @param {number} size
 */
export function label(kind, text, size, x = 0, y = 0) {
  const attributes = { class: kind, x: round(x), y: round(y + size * 0.36) };
  return svg("text", { ...attributes, "font-size": round(size) }, String(text));
}

const stillness = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
let isStill = stillness?.matches ?? false;
stillness?.addEventListener("change", () => (isStill = stillness.matches));

/** Whether the reader wants things to move at all. */
export function mayMove() {
  return !isStill;
}

/** @type {Map<string, {duration: number, easing: string}>} */
const timings = new Map(); // of motions, as read from the style sheet

/** @param {string} motion */
function timing(motion) {
  let found = timings.get(motion);
  if (!found) {
    const style = getComputedStyle(document.documentElement);
    const token = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    found = { duration: parseFloat(token(motion)) || 0, easing: token("ease") || "ease" };
    timings.set(motion, found);
  }
  return found;
}

/**
 * Animate an element along keyframes, for as long as a token ("walk", "slide", "fade") says.
 *
 * @param {Element} node
 * @param {Keyframe[]} keyframes
 * @param {"walk" | "slide" | "fade"} motion
 */
export function animate(node, keyframes, motion) {
  return node.animate(keyframes, timing(motion));
}

/**
 * A piece as it is shown.
 *
 * @typedef {{node: SVGElement, look: string, x: number, y: number, motion: Animation | undefined}} Shown
 */

/**
 * Pieces on a drawing, each at a place of its own.
 *
 * A piece is {key, look, x, y, draw, field, enter}: `look` is everything that its drawing depends
 * on, so a piece whose look stays is only moved. `field` names its place in the element, `enter`
 * is the offset from which it comes when it is new. The pieces' order is that of the elements.
 */
export class Layer {
  /** @type {Map<string, Shown>} */
  #pieces = new Map(); // by key
  /** @type {SVGGElement} */
  #leaving;

  /** @param {string} name */
  constructor(name) {
    this.group = svg("g", { class: name });
    this.#leaving = svg("g", { class: "leaving", "aria-hidden": "true" });
    this.element = svg("g", {}, this.#leaving, this.group);
  }

  /**
   * @param {Drawing.Piece[]} pieces
   * @param {boolean} moving
   */
  show(pieces, moving) {
    this.#dismiss(pieces, moving);
    let next = this.group.firstChild;
    for (const piece of pieces) {
      const old = this.#pieces.get(piece.key);
      const shown = this.#place(piece, old, moving);
      if (old !== shown) this.#pieces.set(piece.key, shown);
      if (old && old !== shown) {
        if (old.node === next) next = old.node.nextSibling;
        old.node.remove();
      }
      if (shown.node === next) next = shown.node.nextSibling;
      else this.group.insertBefore(shown.node, next);
    }
  }

  /**
   * Let go of all pieces but these.
   *
   * @param {Drawing.Piece[]} pieces
   * @param {boolean} moving
   */
  #dismiss(pieces, moving) {
    const known = pieces.reduce((count, { key }) => count + Number(this.#pieces.has(key)), 0);
    if (known === this.#pieces.size) return;
    const kept = new Set(pieces.map(({ key }) => key));
    for (const [key, { node }] of this.#pieces) {
      if (kept.has(key)) continue;
      this.#pieces.delete(key);
      node.remove();
      if (moving) this.#fade(node);
    }
  }

  /**
   * @param {Drawing.Piece} piece
   * @param {Shown | undefined} shown
   * @param {boolean} moving
   * @returns {Shown}
   */
  #place(piece, shown, moving) {
    if (shown && shown.look === piece.look) {
      if (shown.x === piece.x && shown.y === piece.y) return shown;
      shown.motion?.cancel();
      put(shown.node, piece);
      if (moving) shown.motion = walk(shown.node, shown, piece);
      shown.x = piece.x;
      shown.y = piece.y;
      return shown;
    }
    const node = piece.draw();
    put(node, piece);
    const motion = moving && piece.enter && !shown ? enter(node, piece, piece.enter) : undefined;
    return { node, look: piece.look, x: piece.x, y: piece.y, motion };
  }

  /** @param {SVGElement} node */
  #fade(node) {
    this.#leaving.append(node);
    const motion = animate(node, [{ opacity: 1 }, { opacity: 0 }], "fade");
    motion.onfinish = motion.oncancel = () => node.remove();
  }
}

/**
 * @param {SVGElement} node
 * @param {Drawing.Piece} piece
 */
function put(node, piece) {
  node.setAttribute("transform", at(piece.x, piece.y));
  if (piece.field) node.setAttribute("data-field", piece.field);
}

/** @param {Drawing.Place} at */
function place({ x, y }) {
  return `translate(${x}px, ${y}px)`;
}

/**
 * @param {SVGElement} node
 * @param {Drawing.Place} from
 * @param {Drawing.Place} to
 */
function walk(node, from, to) {
  return animate(node, [{ transform: place(from) }, { transform: place(to) }], "walk");
}

/**
 * @param {SVGElement} node
 * @param {Drawing.Place} to
 * @param {Drawing.Place} offset
 */
function enter(node, to, offset) {
  const from = { x: to.x + offset.x, y: to.y + offset.y };
  return animate(
    node,
    [
      { transform: place(from), opacity: 0 },
      { transform: place(to), opacity: 1 },
    ],
    "slide",
  );
}
