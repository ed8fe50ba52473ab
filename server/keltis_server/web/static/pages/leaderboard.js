// @ts-check
// A leaderboard that stays up to date: lines change in place, and move only when their order does.

import { openLive } from "../lib/live.js";
import { must } from "../lib/nodes.js";
import { number, percent } from "../lib/words.js";

/**
 * From which rating to which the intervals are drawn, and whether that has just changed.
 *
 * @typedef {{low: number, high: number, grown: boolean}} Axis
 * @typedef {{value: number, low: number, high: number}} Shown
 */

const STEP = 5;
const LONGEST = 60; // ratings of a small line

/**
 * Keep a table that the server has drawn up to date.
 *
 * @param {HTMLTableElement} table
 * @param {(matches: number) => void} [onTotal]
 */
function keepBoard(table, onTotal = () => {}) {
  const body = table.tBodies[0];
  const most = Number(table.dataset.most ?? Infinity);
  const byJoint = table.dataset.official === "joint";
  const jointLately = table.dataset.lately === "joint";
  const notYet = table.parentElement?.querySelector("[data-not-yet]");
  /** @type {Map<string, Wire.LineOut>} */
  let lines = new Map();
  const topic = /** @type {`leaderboard/${string}`} */ (table.dataset.topic);
  openLive().follow(topic, {
    snapshot(board) {
      lines = new Map(board.lines.map((line) => [key(line), line]));
      show(board.lines.map(key), lines, null);
      notYet?.toggleAttribute("hidden", board.as_of !== null);
      onTotal(board.matches);
    },
    event(event) {
      if (event.kind !== "lines") return;
      for (const [bot, version] of event.removed) lines.delete(`${bot}/${version}`);
      for (const line of event.lines) lines.set(key(line), line);
      const order = event.order?.map(([bot, version]) => `${bot}/${version}`) ?? [...lines.keys()];
      lines = new Map(
        order.flatMap((each) => {
          const line = lines.get(each);
          return line ? [[each, line]] : [];
        }),
      );
      show(order, lines, new Set(event.lines.map(key)));
      notYet?.toggleAttribute("hidden", event.as_of !== null);
      onTotal(event.matches);
    },
  });

  /**
   * @param {string[]} order
   * @param {Map<string, Wire.LineOut>} lines
   * @param {Set<string> | null} changed
   */
  function show(order, lines, changed) {
    const shown = order.slice(0, most).flatMap((each) => lines.get(each) ?? []);
    if (!shown.length) return;
    const axis = fit(
      table,
      shown.map((line) => official(line, byJoint)),
    );
    const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]));
    /** @type {Element | null} */
    let place = body.rows[0] ?? null;
    /** @type {Wire.LineOut | null} */
    let before = null;
    for (const line of shown) {
      const row = rows.get(key(line)) ?? blank(body);
      rows.delete(key(line));
      if (row === place) place = row.nextElementSibling;
      else body.insertBefore(row, place);
      write(row, line, axis, { before, byJoint, jointLately, changed: changed?.has(key(line)) ?? false });
      before = line;
    }
    for (const row of rows.values()) row.remove();
  }
}

/** @param {Wire.LineOut} line */
function key(line) {
  return `${line.bot}/${line.version}`;
}

/**
 * The rating that orders the table, or the live one where there is no other yet.
 *
 * @param {Wire.LineOut} line
 * @param {boolean} byJoint
 * @returns {Shown}
 */
function official(line, byJoint) {
  if (byJoint && line.joint) return { value: line.joint.rating, low: line.joint.low, high: line.joint.high };
  return { value: line.mu, low: line.low, high: line.high };
}

/**
 * What is carved into the stone of a line: the places that it may have, or its rank.
 *
 * @param {Wire.LineOut} line
 * @param {boolean} byJoint
 */
function placesOf(line, byJoint) {
  if (byJoint && line.joint) {
    const { best, worst } = line.joint;
    return best === worst ? String(best) : `${best}–${worst}`;
  }
  return line.rank === null ? "?" : String(line.rank);
}

/** @param {HTMLTableSectionElement} body */
function blank(body) {
  const row = /** @type {HTMLTableRowElement} */ (body.rows[0].cloneNode(true));
  /** @type {SVGElement | null} */
  const spark = row.querySelector("[data-spark]");
  if (spark) spark.dataset.spark = "";
  return row;
}

/**
 * @param {HTMLTableRowElement} row
 * @param {Wire.LineOut} line
 * @param {Axis} axis
 * @param {{before: Wire.LineOut | null, byJoint: boolean, jointLately: boolean, changed: boolean}} how
 */
function write(row, line, axis, { before, byJoint, jointLately, changed }) {
  const shown = official(line, byJoint);
  const places = placesOf(line, byJoint);
  const certain = before !== null && !line.provisional && !before.provisional;
  const tied = certain && placesOf(before, byJoint) === places;
  const moved = changed && row.dataset.key === key(line);
  row.dataset.key = key(line);
  row.className = [tied && "follows", line.provisional && "provisional", moved && "changed"].filter(Boolean).join(" ");
  if (moved) setTimeout(() => row.classList.remove("changed"), 1700);
  put(row, "rank", places);
  /** @type {HTMLAnchorElement} */
  const name = must(row.querySelector('[data-f="bot"]'));
  name.textContent = line.bot;
  name.href = `/bots/${line.bot}`;
  put(row, "version", `v${line.version}`);
  put(row, "author", line.author);
  put(row, "rating", number(shown.value, 1));
  put(row, "reach", number(shown.high - shown.value, 1));
  writeJoint(row, line, byJoint);
  put(row, "matches", number(line.matches));
  const faults = put(row, "faults", number(line.faults));
  faults?.classList.toggle("none", !line.faults);
  place(must(row.querySelector("[data-interval]")), shown, axis);
  const lately = jointLately ? line.joint?.rating : line.mu;
  if (lately !== undefined) extend(row.querySelector("[data-spark]"), lately);
}

/**
 * @param {HTMLTableRowElement} row
 * @param {Wire.LineOut} line
 * @param {boolean} byJoint
 */
function writeJoint(row, line, byJoint) {
  const { joint } = line;
  const other = byJoint || !joint ? { value: line.mu, high: line.high } : { value: joint.rating, high: joint.high };
  put(row, "other", byJoint || joint ? `${number(other.value, 1)} ±${number(other.high - other.value, 1)}` : "–");
  put(row, "share", joint ? percent(joint.share) : "–");
  put(row, "share-interval", joint ? `${percent(joint.share_low)} – ${percent(joint.share_high)}` : "");
  const bar = row.querySelector("[data-expected]");
  bar?.parentElement?.classList.toggle("unknown", !joint);
  if (bar && joint) {
    const reach = must(bar.querySelector(".reach"));
    reach.setAttribute("x", share(joint.share_low));
    reach.setAttribute("width", share(joint.share_high - joint.share_low));
    must(bar.querySelector(".middle")).setAttribute("cx", share(joint.share));
  }
  const rests = row.querySelector("[data-rests]");
  if (rests && joint) {
    must(rests.querySelector(".other")).setAttribute("width", share(joint.own + joint.others));
    must(rests.querySelector(".own-part")).setAttribute("width", share(joint.own));
  }
}

/** @param {number} value */
function share(value) {
  return `${(100 * value).toFixed(1)}%`;
}

/**
 * @param {Element} row
 * @param {string} name
 * @param {string} text
 */
function put(row, name, text) {
  const node = row.querySelector(`[data-f="${name}"]`);
  if (node && node.textContent !== text) node.textContent = text;
  return node;
}

/**
 * Let the axis grow where the intervals do not fit any more; it never shrinks while somebody looks.
 *
 * @param {HTMLTableElement} table
 * @param {Shown[]} lines
 * @returns {Axis}
 */
function fit(table, lines) {
  /** @type {SVGElement} */
  const head = must(table.querySelector("[data-axis]"));
  const low = Math.min(Number(head.dataset.low), STEP * Math.floor(Math.min(...lines.map((each) => each.low)) / STEP));
  const high = Math.max(
    Number(head.dataset.high),
    STEP * Math.ceil(Math.max(...lines.map((each) => each.high)) / STEP),
  );
  const axis = { low, high, grown: low !== Number(head.dataset.low) || high !== Number(head.dataset.high) };
  if (axis.grown) {
    Object.assign(head.dataset, { low: String(low), high: String(high) });
    const labels = marksOf(axis).map((value, index, all) => {
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("x", at(axis, value));
      text.setAttribute("y", "14");
      if (index === 0) text.setAttribute("class", "first");
      else if (index === all.length - 1) text.setAttribute("class", "last");
      text.textContent = String(value);
      return text;
    });
    head.replaceChildren(...labels);
  }
  return axis;
}

/** @param {{low: number, high: number}} axis */
function marksOf({ low, high }) {
  const step = high - low <= 10 * STEP ? STEP : 2 * STEP;
  const found = [];
  for (let value = low; value <= high; value += step) found.push(value);
  return found;
}

/**
 * @param {{low: number, high: number}} axis
 * @param {number} rating
 */
function at(axis, rating) {
  const share = (rating - axis.low) / (axis.high - axis.low);
  return `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
}

/**
 * @param {Element} svg
 * @param {Shown} line
 * @param {Axis} axis
 */
function place(svg, line, axis) {
  const reach = must(svg.querySelector(".reach"));
  reach.setAttribute("x1", at(axis, line.low));
  reach.setAttribute("x2", at(axis, line.high));
  must(svg.querySelector(".middle")).setAttribute("cx", at(axis, line.value));
  if (!axis.grown) return;
  for (const tick of svg.querySelectorAll(".tick")) tick.remove();
  for (const value of marksOf(axis)) {
    const tick = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, text] of [
      ["class", "tick"],
      ["x1", at(axis, value)],
      ["x2", at(axis, value)],
      ["y1", "0"],
      ["y2", "100%"],
    ]) {
      tick.setAttribute(name, text);
    }
    svg.prepend(tick);
  }
}

/**
 * @param {SVGElement | null} svg
 * @param {number} rating
 */
function extend(svg, rating) {
  if (!svg) return;
  const values = svg.dataset.spark ? svg.dataset.spark.split(" ").map(Number) : [];
  if (values.length && Math.abs(values[values.length - 1] - rating) < 0.005) return;
  values.push(Math.round(100 * rating) / 100);
  const kept = values.slice(-LONGEST);
  svg.dataset.spark = kept.join(" ");
  must(svg.querySelector("polyline")).setAttribute("points", points(kept));
}

/** @param {number[]} values */
function points(values) {
  if (values.length < 2) return "";
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spread = Math.max(high - low, 1);
  return values
    .map((value, index) => {
      const x = (100 * index) / (values.length - 1);
      const y = 12 - ((value - (low + high) / 2) / spread) * 20;
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(" ");
}

/** @type {NodeListOf<HTMLTableElement>} */
const tables = document.querySelectorAll("table[data-board]");
for (const table of tables) {
  const total = document.querySelector("[data-total]");
  keepBoard(table, (matches) => {
    if (total) total.textContent = number(matches);
  });
}
