// A tournament that stays up to date.

import { openLive } from "../lib/live.js";
import { refresher } from "../lib/morph.js";

const page = document.querySelector("[data-topic]");
if (page) {
  const refresh = refresher();
  openLive().follow(page.dataset.topic, { event: refresh, end: refresh });
}
