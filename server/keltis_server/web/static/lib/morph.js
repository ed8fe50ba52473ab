// @ts-check
// Parts of a page that are made by the server: asked for again when something has changed, and put in place
// node by node, so that what stays the same is not touched and nothing jumps.

import { localise } from "./words.js";

const BETWEEN_LOOKS_MS = 2000; // ms from one look to the next
const KEPT = ["data-local", "open"]; // attributes that the reader or a script has set

/** Return a function that has the parts marked with data-live looked at again, not too often. */
export function refresher() {
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;
  let last = 0;
  let wanted = false; // what happens during a look, or while nobody sees the page, is not forgotten
  const look = () => {
    wanted = true;
    if (timer !== null || document.hidden) return;
    const wait = Math.max(0, last + BETWEEN_LOOKS_MS - Date.now()) + 300 * Math.random();
    timer = setTimeout(async () => {
      last = Date.now();
      wanted = false;
      await refresh();
      timer = null;
      if (wanted) look();
    }, wait);
  };
  document.addEventListener("visibilitychange", () => wanted && look());
  return look;
}

async function refresh() {
  let text;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return;
    text = await response.text();
  } catch {
    return; // the connection is lost, which is said elsewhere
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  localise(page);
  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll("[data-live]");
  for (const part of parts) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh) morph(part, fresh);
  }
}

/**
 * Make a node like another.
 *
 * @param {Node} old
 * @param {Node} fresh
 */
export function morph(old, fresh) {
  if (!(old instanceof Element) || !(fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.hasAttribute("data-keep")) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !KEPT.includes(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!KEPT.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  children(old, fresh);
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function children(old, fresh) {
  /** @type {Map<string, Element>} */
  const keyed = new Map();
  for (const child of old.children) {
    const key = keyOf(child);
    if (key) keyed.set(key, child);
  }
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const key = keyOf(wanted);
    const found = key ? keyed.get(key) : alike(place, wanted) ? place : null;
    if (found) {
      if (found === place) place = found.nextSibling;
      else old.insertBefore(found, place);
      morph(found, wanted);
    } else {
      old.insertBefore(document.importNode(wanted, true), place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/**
 * @param {Node | null} one
 * @param {Node} other
 */
function alike(one, other) {
  return one !== null && one.nodeName === other.nodeName && !keyOf(one);
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute("data-key") : null;
}
