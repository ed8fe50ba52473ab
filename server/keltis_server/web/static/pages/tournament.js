// @ts-check
// A tournament that stays up to date.

import { openLive } from "../lib/live.js";
import { refresher } from "../lib/morph.js";

/** @type {HTMLElement | null} */
const page = document.querySelector("[data-topic]");
if (page) {
  const refresh = refresher();
  const topic = /** @type {`tournament/${string}`} */ (page.dataset.topic);
  openLive().follow(topic, { event: refresh, end: refresh });
}
