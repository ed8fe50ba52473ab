// @ts-check
// What every page does: the theme, copying, times, and a word when the connection is lost.

import { openLive } from "../lib/live.js";
import { must } from "../lib/nodes.js";
import { clock, localise, say } from "../lib/words.js";

const SHOWN = 4000; // ms for which "connected again" stays

/** @type {HTMLElement | null} */
const themes = document.querySelector("[data-themes]");
if (themes) {
  const chosen = document.documentElement.dataset.theme ?? "auto";
  for (const input of themes.querySelectorAll("input")) input.checked = input.value === chosen;
  themes.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement) choose(target.value);
  });
  themes.hidden = false;
}

/** @param {string} theme */
function choose(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // It holds for this page, then.
  }
}

document.addEventListener("click", async (event) => {
  /** @type {HTMLElement | null} */
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
  if (!button) return;
  const label = (button.dataset.label ??= button.textContent ?? "");
  let said = "copied";
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
  } catch {
    const range = document.createRange();
    range.selectNodeContents(must(button.previousElementSibling));
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    said = document.execCommand("copy") ? "copied" : "copy_failed";
  }
  button.textContent = say(said);
  setTimeout(() => (button.textContent = label), 2000);
});

localise(document);

const connection = document.getElementById("connection");
if (connection) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  openLive().onState((state, since) => {
    clearTimeout(timer);
    connection.classList.toggle("back", state === "back");
    connection.textContent = since ? say("lost", { time: clock(since) }) : say("back");
    if (state === "back") timer = setTimeout(() => (connection.textContent = ""), SHOWN);
  });
}
