// @ts-check
// A list of matches whose first page stays up to date.

import { openLive } from "../lib/live.js";
import { refresher } from "../lib/morph.js";

if (document.querySelector('[data-live="matches"]')) {
  const refresh = refresher();
  openLive().follow("lobby", {
    event(event) {
      if (["began", "finished", "gone"].includes(event.kind)) refresh();
    },
  });
}
