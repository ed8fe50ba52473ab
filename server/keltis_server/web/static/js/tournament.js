// A tournament that stays up to date.

import { openLive } from "./live.js";
import { refresher } from "./morph.js";

const page = document.querySelector("[data-topic]");
if (page) {
  const refresh = refresher();
  openLive().follow(page.dataset.topic, { event: refresh, end: refresh });
}
