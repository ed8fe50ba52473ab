// @ts-check
// Keys, and the dialog that lists them.

import { make } from "../lib/nodes.js";
import { say } from "../lib/words.js";
import { PAGE } from "./playback.js";

/**
 * Let keys do what buttons do, unless somebody types or chooses.
 *
 * @param {Viewing.Actions} actions
 */
export function listen(actions) {
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const keys = {
    ArrowLeft: (event) => actions.step(event.shiftKey ? -PAGE : -1),
    ArrowRight: (event) => actions.step(event.shiftKey ? PAGE : 1),
    PageUp: () => actions.step(-PAGE),
    PageDown: () => actions.step(PAGE),
    Home: () => actions.seek(0),
    End: () => actions.seek(Infinity),
    " ": actions.pause,
    e: actions.nextEvent,
    l: actions.live,
    n: () => actions.turnGame(1),
    p: () => actions.turnGame(-1),
    v: actions.turnSight,
    "+": () => actions.changeSpeed(1),
    "-": () => actions.changeSpeed(-1),
    "?": actions.help,
  };
  document.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.key, event.target)) return;
    event.preventDefault();
    act(event);
  });
}

/**
 * Whether the key means something where it was pressed.
 *
 * @param {string} key
 * @param {EventTarget | null} target
 */
function isTaken(key, target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog, select, textarea, [contenteditable], input:not([type=range])")) return true;
  if (key === " " && target.closest("button, a, summary")) return true;
  return target !== document.body && !target.closest("#viewer"); // the rest of the page scrolls as usual
}

/** Make the dialog that says what keys do. */
export function helpDialog() {
  const lines = [
    [say("view_space"), say("view_key_pause")],
    ["←  →", say("view_key_step")],
    ["PageUp  PageDown", say("view_key_ten")],
    ["Home  End", say("view_key_ends")],
    ["e", say("view_event_title")],
    ["n  p", say("view_key_games")],
    ["l", say("view_key_live")],
    ["v", say("view_key_sight")],
    ["+  −", say("view_key_speed")],
    ["?", say("view_key_help")],
  ];
  const list = make("dl", {});
  for (const [key, text] of lines) {
    list.append(make("dt", {}, ...key.split("  ").map((each) => make("kbd", {}, each))), make("dd", {}, text));
  }
  const close = make("button", { type: "submit" }, say("view_close"));
  return make(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, say("view_help")),
    list,
    make("form", { method: "dialog" }, close),
  );
}
