// @ts-check
// The table of who beats whom, field by field with the arrow keys.

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {HTMLTableElement | null} */
const table = document.querySelector("[data-matrix]");
const says = document.querySelector("[data-says-here]");

if (table && says) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  let current = rows.flat().find((cell) => cell.dataset.says);
  for (const cell of rows.flat()) if (cell.dataset.says) cell.tabIndex = -1;
  if (current) current.tabIndex = 0;

  const tell = (/** @type {Event} */ event) => {
    const cell = cellOf(event);
    if (cell) says.textContent = cell.dataset.says ?? "";
  };
  table.addEventListener("pointerover", tell);
  table.addEventListener("focusin", tell);
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const cell = cellOf(event);
    if (!step || !cell) return;
    event.preventDefault();
    let row = rows.findIndex((each) => each.includes(cell));
    let column = rows[row].indexOf(cell);
    do {
      row += step[0];
      column += step[1];
    } while (rows[row]?.[column] && !rows[row][column].dataset.says);
    const next = rows[row]?.[column];
    if (!next) return;
    if (current) current.tabIndex = -1;
    current = next;
    current.tabIndex = 0;
    current.focus();
  });
}

/**
 * The field that something happened in, if it was one.
 *
 * @param {Event} event
 * @returns {HTMLTableCellElement | null}
 */
function cellOf({ target }) {
  return target instanceof Element ? target.closest("td[data-says]") : null;
}
