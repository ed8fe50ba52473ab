// @ts-check
// Small helpers to make elements. Texts are always texts, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | null | undefined} Child */

/**
 * Return what has to be there: a page and its script belong together.
 *
 * @template Kind
 * @param {Kind | null | undefined} found
 * @returns {Kind}
 */
export function must(found) {
  if (found === null || found === undefined) throw new Error("something is missing that the page should have");
  return found;
}

/**
 * Make an element with attributes and children; a child that is a string is text.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Drawing.Attributes} [attributes]
 * @param {Child[]} children
 */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * The same for a drawing.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Drawing.Attributes} [attributes]
 * @param {Child[]} children
 */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/**
 * @template {Element} Kind
 * @param {Kind} node
 * @param {Drawing.Attributes} attributes
 * @param {Child[]} children
 */
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const marks = new URL("../marks.svg", import.meta.url).pathname;

/**
 * One of our marks, as the pages have them.
 *
 * @param {string} name
 */
export function mark(name, size = 20) {
  return draw(
    "svg",
    { class: "mark", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" },
    draw("use", { href: `${marks}#${name}` }),
  );
}
