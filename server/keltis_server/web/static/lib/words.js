// @ts-check
// The words that scripts say, in the language of the page, and its numbers and moments.

const element = document.getElementById("words");
/** @type {Record<string, string>} */
const texts = JSON.parse(element?.textContent ?? "{}");
const language = document.documentElement.lang || "en";

/**
 * Return a text with its values put in.
 *
 * @param {string} name
 * @param {Record<string, string | number | boolean | null>} [values]
 */
export function say(name, values = {}) {
  return (texts[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/**
 * Return a number as the page writes it: the same as the server does.
 *
 * @param {number} value
 */
export function number(value, digits = 0) {
  const [whole, part] = Math.abs(value).toFixed(digits).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const text = part ? grouped + (language === "de" ? "," : ".") + part : grouped;
  return value < 0 && /[1-9]/.test(text) ? `\u2212${text}` : text;
}

/** @param {number} share */
export function percent(share) {
  return `${number(100 * share)}\u202f%`;
}

/**
 * Return games won: whole where they are whole.
 *
 * @param {number} value
 */
export function wins(value) {
  return number(value, Number.isInteger(value) ? 0 : 1);
}

const locale = language === "en" ? "en-GB" : language; // the day before the month, as the server writes
/** @type {{hourCycle: "h23"}} */
const dial = { hourCycle: "h23" };
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", ...dial });
const times = new Intl.DateTimeFormat(locale, { timeStyle: "medium", ...dial });
const hours = new Intl.DateTimeFormat(locale, { timeStyle: "short", ...dial });
const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });

/**
 * Return a moment in the reader's own time; of today only the hour.
 *
 * @param {Date} date
 */
export function moment(date) {
  const today = date.toDateString() === new Date().toDateString();
  return (today ? hours : moments).format(date);
}

/**
 * The same where there is little room: of other days no hour, of this year no year.
 *
 * @param {Date} date
 */
function brief(date) {
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return hours.format(date);
  return (date.getFullYear() === now.getFullYear() ? days : dates).format(date);
}

/** @param {Date} date */
export function clock(date) {
  return times.format(date);
}

/**
 * Turn the moments below an element into the reader's own time.
 *
 * @param {ParentNode} root
 */
export function localise(root) {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const all = root.querySelectorAll("time[datetime]:not([data-local])");
  for (const time of all) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    time.textContent = time.closest(".when") ? brief(date) : moment(date);
    time.dataset.local = "";
  }
}
