// Small helpers to make elements. Texts are always texts, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element with attributes and children; a child that is a string is text. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const marks = new URL("../marks.svg", import.meta.url).pathname;

/** One of our marks, as the pages have them. */
export function mark(name, size = 20) {
  return draw(
    "svg",
    { class: "mark", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" },
    draw("use", { href: `${marks}#${name}` }),
  );
}
