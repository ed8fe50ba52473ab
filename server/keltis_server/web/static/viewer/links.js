// @ts-check
// Places of a match in addresses: #game=2&ply=34&seat=all. Games are counted from one, as on the page.
//
// They are written behind the sign below and read behind either: pages refuse questions that they do not know.

import { ALL, PUBLIC } from "./model.js";

const SIGN = "?";
const UNCHANGED_MS = 400; // ms without a change: another address costs a browser as much as several positions
const SEAT = /^(?:all|public|[0-3])$/;

/**
 * Read the place that an address names: {rotation, ply, perspective}; what it does not say is null.
 *
 * @param {{search: string, hash: string}} address
 */
export function placeOf({ search, hash }) {
  const given = new URLSearchParams(search.length > 1 ? search : hash.slice(1));
  const whole = (/** @type {string} */ name) =>
    /^\d{1,6}$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null;
  const game = whole("game");
  const seat = given.get("seat") ?? "";
  return { rotation: game ? game - 1 : null, ply: whole("ply"), perspective: SEAT.test(seat) ? seat : null };
}

/**
 * Return the address of a place.
 *
 * @param {{rotation: number, ply: number}} place
 * @param {string} perspective
 * @param {boolean} isFinished
 */
export function addressOf({ rotation, ply }, perspective, isFinished) {
  const query = new URLSearchParams({ game: String(rotation + 1), ply: String(ply) });
  if (SEAT.test(perspective) && perspective !== (isFinished ? ALL : PUBLIC)) query.set("seat", perspective);
  return `${location.origin}${location.pathname}${SIGN}${query}`;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let wanted = "";

/**
 * Keep the address of the page up to date.
 *
 * @param {string} address
 */
export function remember(address) {
  if (address === wanted) return;
  wanted = address;
  clearTimeout(timer);
  timer = setTimeout(() => history.replaceState(history.state, "", wanted), UNCHANGED_MS);
}
