// @ts-check
// The first page: the big table, a wall of others, the last results, and the top of the leaderboard.

import { Featured } from "./featured.js";
import "./leaderboard.js";
import { openLive } from "../lib/live.js";
import { make, mark, must } from "../lib/nodes.js";
import { number, say, wins } from "../lib/words.js";
import { Table } from "./tables.js";

const RECENT = 6;
const BETWEEN = 900; // ms from one empty table to the next that gets an old match

/** @type {HTMLElement | null} */
const wall = document.querySelector("[data-wall]");
/** @type {HTMLElement | null} */
const recent = document.querySelector("[data-recent]");
/** @type {HTMLElement | null} */
const pace = document.querySelector("[data-pace]");

if (wall) {
  const live = openLive();
  const featured = new Featured(must(document.querySelector("[data-featured]")), live, fill);
  /** @type {NodeListOf<HTMLElement>} */
  const slots = wall.querySelectorAll("[data-slot]");
  const shown = [...slots].filter((slot) => slot.offsetParent !== null);
  const tables = shown.map((slot) => new Table(slot, live, fill));
  /** @type {Map<string, Wire.RunningOut>} */
  const running = new Map();
  /** @type {Wire.PlayedOut[]} */
  const played = []; // summaries, the newest first
  const seen = new Set();
  let last = 0;
  let isLost = false; // then what is on the tables stays there
  live.onState((state) => (isLost = state === "lost"));

  live.follow("lobby", {
    snapshot(lobby) {
      running.clear();
      for (const match of lobby.matches) running.set(match.id, match);
      played.splice(0, played.length, ...lobby.recent);
      fill();
      if (recent) list(recent, played);
      tellPace(lobby.pace);
    },
    event(event) {
      if (event.kind === "pace") tellPace(event);
      if (event.kind === "began") running.set(event.match.id, event.match);
      if (event.kind === "moved") [featured.table, ...tables].find((table) => table.id === event.id)?.moved(event);
      if (event.kind === "gone") running.delete(event.id);
      if (event.kind === "finished") {
        running.delete(event.id);
        played.unshift(event.result);
        played.length = Math.min(played.length, 20);
        if (recent) list(recent, played);
      }
      if (event.kind !== "moved" && event.kind !== "pace") fill();
    },
  });

  /** Give every free table a match: one that is being played, or else one that was just now. */
  function fill() {
    if (isLost) return;
    if (featured.table.free) {
      featured.next([...running.values()], played);
      const { id } = featured.table;
      tables.find((table) => id !== null && table.id === id)?.clear(); // it has moved to the big table
    }
    const taken = new Set([featured.table, ...tables].map((table) => table.id));
    for (const table of tables.filter((each) => each.free)) {
      const next = [...running.values()].find((match) => !taken.has(match.id));
      const old = played.find((match) => !taken.has(match.id) && !seen.has(match.id));
      if (next) table.watch(next);
      else if (old && table.isSeen && Date.now() - last > BETWEEN) {
        last = Date.now();
        table.replay(old);
      }
      if (table.id !== null) {
        taken.add(table.id);
        seen.add(table.id);
      }
    }
  }
  setInterval(() => {
    if (!document.hidden) fill();
  }, BETWEEN);
}

/**
 * Say why few matches are played, if that is so.
 *
 * @param {Live.Pace} told
 */
function tellPace({ tempo, per_minute: count }) {
  if (!pace) return;
  pace.hidden = tempo === "full";
  pace.textContent = pace.hidden
    ? ""
    : say(`pace_${tempo}`, { count: count ? number(count, Number.isInteger(count) ? 0 : 1) : "" });
}

/**
 * @param {HTMLElement} recent
 * @param {Wire.PlayedOut[]} matches
 */
function list(recent, matches) {
  const rows = new Map([...recent.children].map((row) => [row.getAttribute("data-key"), row]));
  const wanted = matches.slice(0, RECENT).map((match) => rows.get(match.id) ?? line(match));
  wanted.forEach((row, index) => {
    if (recent.children[index] !== row) recent.insertBefore(row, recent.children[index] ?? null);
  });
  while (recent.children.length > wanted.length) recent.lastElementChild?.remove();
}

/** @param {Wire.PlayedOut} match */
function line(match) {
  const entrants = [...match.entrants].sort((one, other) => one.rank - other.rank);
  const result = make("ol", { class: "result" });
  for (const entrant of entrants) {
    const item = make(
      "li",
      { class: entrant.rank === 1 ? "first" : null },
      make("a", { href: `/bots/${entrant.bot}` }, entrant.bot),
      make("span", { class: "score" }, wins(entrant.wins)),
    );
    if (entrant.faults) item.append(make("span", { class: "fault" }, mark("fault", 14)));
    result.append(item);
  }
  return make(
    "li",
    { "data-key": match.id },
    make("a", { class: "number", href: `/matches/${match.number}` }, number(match.number)),
    mark(match.variant),
    make("span", { class: "hidden" }, say(`variant.${match.variant}`)),
    result,
  );
}
