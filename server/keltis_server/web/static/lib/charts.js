// @ts-check
// Ratings over time: a line in a band, with a stone for each version. No box, and no legend.
// Where there are joint ratings the band is theirs, and live TrueSkill a thin line.

import { draw } from "./nodes.js";
import { number, say } from "./words.js";

const Z95 = 1.959963984540054;
/**
 * @typedef {Pick<Wire.StepOut, "match" | "version" | "mu" | "sigma"> & {joint?: [number, number] | null}} Step
 * @typedef {{index: number, value: number, sigma: number}} Point
 * @typedef {ReturnType<typeof scales>} Scale
 */

/** @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
const ROOM = { left: 34, right: 46, top: 26, bottom: 22 };

/**
 * Draw the history of a rating into an element, and again when its size or its data change.
 *
 * @param {Element} canvas
 * @param {Step[]} steps
 * @param {(text: string) => void} [onRead]
 */
export function ratingChart(canvas, steps, onRead = () => {}) {
  let data = steps;
  /** @type {number | null} */
  let current = null;
  const svg = draw("svg", { role: "img", tabindex: "0" });
  canvas.replaceChildren(svg);
  new ResizeObserver(render).observe(canvas);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    read(nearest(event.clientX - box.left));
  });
  svg.addEventListener("pointerleave", () => read(null));
  svg.addEventListener("blur", () => read(null));
  svg.addEventListener("keydown", (event) => {
    const step = KEYS[event.key];
    let next = current ?? data.length - 1;
    if (step) next += step;
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = data.length - 1;
    else return;
    event.preventDefault();
    read(Math.min(data.length - 1, Math.max(0, next)));
  });

  /** @type {Scale | null} */
  let scale = null;
  function render() {
    const { width, height } = canvas.getBoundingClientRect();
    if (!width || !data.length) return;
    scale = scales(data, width, height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", say("chart_label", { count: number(data.length) }));
    svg.replaceChildren(
      ...grid(scale, width),
      ...shape(data, scale),
      ...births(data, scale),
      draw("g", { "data-cursor": true }),
    );
    if (current !== null) read(Math.min(current, data.length - 1));
  }

  /** @param {number} x */
  function nearest(x) {
    if (!scale || !data.length) return null;
    const share = (x - ROOM.left) / (scale.width || 1);
    return Math.min(data.length - 1, Math.max(0, Math.round(share * (data.length - 1))));
  }

  /** @param {number | null} index */
  function read(index) {
    current = index;
    const cursor = svg.querySelector("[data-cursor]");
    if (!cursor || !scale) return;
    if (index === null) {
      cursor.replaceChildren();
      onRead("");
      return;
    }
    const step = data[index];
    const x = scale.x(index);
    cursor.replaceChildren(
      draw("line", { class: "cursor", x1: x, x2: x, y1: ROOM.top, y2: scale.bottom }),
      draw("circle", { class: "here", cx: x, cy: scale.y(step.joint ? step.joint[0] : step.mu), r: 4 }),
    );
    const [rating, sigma] = step.joint ?? [step.mu, step.sigma];
    onRead(
      say(step.joint ? "chart_both" : "chart_point", {
        rating: number(rating, 1),
        match: number(step.match),
        version: step.version,
        mu: number(step.mu, 1),
        low: number(rating - Z95 * sigma, 1),
        high: number(rating + Z95 * sigma, 1),
      }),
    );
  }

  return {
    /**
     * Add what has happened since.
     *
     * @param {Step[]} more
     */
    add(more) {
      if (!more.length) return;
      data = data.concat(more);
      render();
    },
    /**
     * Note the joint rating as it was published after the last match that is drawn.
     *
     * @param {number} rating
     * @param {number} sigma
     */
    note(rating, sigma) {
      const last = data.at(-1);
      if (!last || last.joint?.[0] === rating) return;
      data = [...data.slice(0, -1), { ...last, joint: [rating, sigma] }];
      render();
    },
    get last() {
      return data.at(-1) ?? null;
    },
  };
}

/**
 * @param {Step[]} data
 * @param {number} width
 * @param {number} height
 */
function scales(data, width, height) {
  // The first few matches are wide open: the band may leave the picture there.
  const points = banded(data, 0, data.length);
  const all = [...points.map(({ value }) => value), ...data.map(({ mu }) => mu)];
  const low = Math.min(...all, ...points.map(({ value, sigma }) => value - Math.min(Z95 * sigma, 6)));
  const high = Math.max(...all, ...points.map(({ value, sigma }) => value + Math.min(Z95 * sigma, 6)));
  const from = Math.floor(low / 5) * 5;
  const to = Math.max(Math.ceil(high / 5) * 5, from + 5);
  const bottom = height - ROOM.bottom;
  const inner = width - ROOM.left - ROOM.right;
  return {
    from,
    to,
    bottom,
    width: inner,
    x: (/** @type {number} */ index) => ROOM.left + (data.length > 1 ? (index / (data.length - 1)) * inner : inner / 2),
    y: (/** @type {number} */ rating) =>
      Math.min(bottom, Math.max(ROOM.top, bottom - ((rating - from) / (to - from)) * (bottom - ROOM.top))),
  };
}

/**
 * @param {Scale} scale
 * @param {number} width
 */
function grid(scale, width) {
  const nodes = [];
  const step = scale.to - scale.from > 30 ? 10 : 5;
  for (let rating = scale.from; rating <= scale.to; rating += step) {
    const y = scale.y(rating);
    nodes.push(draw("line", { class: "tick", x1: ROOM.left, x2: width - ROOM.right, y1: y, y2: y }));
    nodes.push(draw("text", { x: ROOM.left - 8, y: y + 4, "text-anchor": "end" }, String(rating)));
  }
  return nodes;
}

/**
 * What has a band, from one step to another: joint ratings if there are any, or else live ones.
 *
 * @param {Step[]} data
 * @param {number} from
 * @param {number} to
 * @returns {Point[]}
 */
function banded(data, from, to) {
  const joint = data.some((step) => step.joint);
  const found = [];
  for (let index = from; index < to; index++) {
    const step = data[index];
    const [value, sigma] = joint ? (step.joint ?? []) : [step.mu, step.sigma];
    if (value !== undefined && sigma !== undefined) found.push({ index, value, sigma });
  }
  return found;
}

/**
 * @param {Step[]} data
 * @param {Scale} scale
 */
function shape(data, scale) {
  const nodes = [];
  const joint = data.some((step) => step.joint);
  for (const [from, to] of spans(data)) {
    const points = banded(data, from, to);
    const upper = points.map(({ index, value, sigma }) => `${scale.x(index)},${scale.y(value + Z95 * sigma)}`);
    const lower = points.map(({ index, value, sigma }) => `${scale.x(index)},${scale.y(value - Z95 * sigma)}`);
    nodes.push(draw("polygon", { class: "band", points: [...upper, ...lower.reverse()].join(" ") }));
    if (joint) {
      const live = data.slice(from, to).map(({ mu }, k) => `${scale.x(from + k)},${scale.y(mu)}`);
      nodes.push(draw("polyline", { class: "live-line", points: live.join(" ") }));
    }
    const line = points.map(({ index, value }) => `${scale.x(index)},${scale.y(value)}`);
    nodes.push(draw("polyline", { class: "line", points: line.join(" ") }));
  }
  const last = data.length - 1;
  const end = banded(data, 0, data.length).at(-1);
  const y = end ? scale.y(end.value) : 0;
  if (end) nodes.push(draw("text", { class: "end", x: scale.x(last) + 8, y: y + 5 }, number(end.value, 1)));
  if (joint && Math.abs(scale.y(data[last].mu) - y) > 15) {
    nodes.push(draw("text", { x: scale.x(last) + 8, y: scale.y(data[last].mu) + 5 }, number(data[last].mu, 1)));
  }
  nodes.push(
    draw(
      "text",
      { x: scale.x(last), y: scale.bottom + 18, "text-anchor": "end" },
      `${say("match", { number: number(data[last].match) })}`,
    ),
  );
  if (last)
    nodes.push(draw("text", { x: scale.x(0), y: scale.bottom + 18 }, say("match", { number: number(data[0].match) })));
  return nodes;
}

/**
 * Each version has a line of its own.
 *
 * @param {Step[]} data
 */
function spans(data) {
  /** @type {[from: number, to: number][]} */
  const found = [];
  let from = 0;
  for (let k = 1; k <= data.length; k++) {
    if (k === data.length || data[k].version !== data[from].version) {
      found.push([from, k]);
      from = k;
    }
  }
  return found;
}

/**
 * @param {Step[]} data
 * @param {Scale} scale
 */
function births(data, scale) {
  const nodes = [];
  let free = -Infinity;
  let newest = 0;
  for (const [from] of spans(data)) {
    // Matches of an older version may end after the first of a newer one.
    if (data[from].version <= newest) continue;
    newest = data[from].version;
    const x = scale.x(from);
    nodes.push(draw("line", { class: "born-line", x1: x, x2: x, y1: 20, y2: scale.bottom }));
    if (x - free < 26) continue; // no room for another stone
    free = x;
    nodes.push(
      draw(
        "g",
        {},
        draw("title", {}, say("version", { number: data[from].version })),
        draw("rect", { class: "born", x: x - 12, y: 0, width: 24, height: 20, rx: 10, ry: 9 }),
        draw("text", { class: "born-text", x, y: 14.5 }, String(data[from].version)),
      ),
    );
  }
  return nodes;
}
