// @ts-check
// Two bots held against each other: their page is looked at again when the first of them has played.

import { openLive } from "../lib/live.js";
import { refresher } from "../lib/morph.js";
import { must } from "../lib/nodes.js";

/** @type {HTMLElement} */
const here = must(document.querySelector("[data-pairing]"));
const { bot, version } = here.dataset;
const refresh = refresher();

openLive().follow(`version/${bot}/${version}`, {
  event(event) {
    if (event.kind === "match") refresh();
  },
});
