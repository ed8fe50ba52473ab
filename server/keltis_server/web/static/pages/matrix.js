// @ts-check
// The table of who beats whom, field by field with the arrow keys.

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {HTMLTableElement | null} */
const table = document.querySelector("[data-matrix]");
const says = document.querySelector("[data-says-here]");

if (table && says) {
  /** @type {(HTMLAnchorElement | null)[][]} */
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.querySelector("a")));
  const links = rows.flat().filter((link) => link !== null);
  let current = links[0];
  for (const link of links.slice(1)) link.tabIndex = -1;

  const tell = (/** @type {Event} */ event) => {
    const link = linkOf(event);
    if (link) says.textContent = link.dataset.says ?? "";
  };
  table.addEventListener("pointerover", tell);
  table.addEventListener("focusin", tell);
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const link = linkOf(event);
    if (!step || !link) return;
    event.preventDefault();
    let row = rows.findIndex((each) => each.includes(link));
    let column = rows[row].indexOf(link);
    do {
      row += step[0];
      column += step[1];
    } while (rows[row]?.[column] === null);
    const next = rows[row]?.[column];
    if (!next) return;
    current.tabIndex = -1;
    current = next;
    current.tabIndex = 0;
    current.focus();
  });
}

/**
 * The pair that something happened to, if it was one.
 *
 * @param {Event} event
 * @returns {HTMLAnchorElement | null}
 */
function linkOf({ target }) {
  return target instanceof Element ? target.closest("a[data-says]") : null;
}
