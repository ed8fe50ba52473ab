// @ts-check
// What the check of a version found, as a list.

import { make, mark } from "./nodes.js";

/** @type {Record<string, string>} */
const MARKS = { ok: "check", warning: "warning", failed: "cross" };

/** @param {Wire.FindingOut} found */
export function finding(found) {
  const text = make("div", {}, make("p", {}, make("strong", {}, found.check), ` ${found.text}`));
  if (found.advice) text.append(make("p", { class: "quiet" }, found.advice));
  if (found.log && found.mark !== "ok") text.append(make("pre", { tabindex: "0" }, found.log));
  return make("li", { class: found.mark }, mark(MARKS[found.mark] ?? "dot", 18), text);
}
