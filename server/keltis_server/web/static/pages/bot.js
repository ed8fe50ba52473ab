// @ts-check
// The page of a bot: its rating goes on while one looks; its author also sees logs and crash cards.

import { ask, Refused, remember, token } from "../lib/account.js";
import { ratingChart } from "../lib/charts.js";
import { finding } from "../lib/findings.js";
import { openLive } from "../lib/live.js";
import { refresher } from "../lib/morph.js";
import { make, must } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";

/** @type {HTMLElement} */
const here = must(document.querySelector("[data-chart-here]"));
const { bot, version, variant, players } = here.dataset;
const jointKept = "jointKept" in here.dataset; // else the chart is of live TrueSkill alone
const refresh = refresher();
let chart = drawn();
let asking = false;
let again = false; // a match came while we asked for those before it

// A bot that has not played yet gets its chart with its first match.
new MutationObserver(() => (chart ??= drawn())).observe(here, { childList: true });

openLive().follow(`version/${bot}/${version}`, {
  event(event) {
    if (event.kind === "state" || event.kind === "match") refresh();
    if (event.kind === "match") goOn();
  },
});

/** Draw the chart that the page has, if it has one. */
function drawn() {
  const figure = here.querySelector("[data-chart]");
  if (!figure) return null;
  const caption = must(figure.querySelector("figcaption"));
  const words = caption.textContent;
  const history = JSON.parse(must(figure.querySelector("#history")).textContent ?? "");
  return ratingChart(must(figure.querySelector("[data-canvas]")), history, (text) => {
    caption.textContent = text || words;
  });
}

/** Draw what was played since. */
async function goOn() {
  again = true;
  if (asking || !chart) return;
  asking = true;
  while (again) {
    again = false;
    try {
      const after = chart.last ? `&after=${chart.last.match}` : "";
      /** @type {Wire.PageOfStepOut} */
      const page = await ask(`/bots/${bot}/history?variant=${variant}&players=${players}&limit=200${after}`);
      /** @type {Wire.BotOut} */
      const now = await ask(`/bots/${bot}`);
      const rating = now.ratings.find((each) => each.variant === variant && String(each.players) === players);
      if (jointKept && rating?.joint) chart.note(rating.joint.rating, rating.joint.sigma);
      chart.add(page.items);
    } catch {
      // It will be drawn with the next match.
    }
  }
  asking = false;
}

/** @type {HTMLElement | null} */
const own = document.querySelector("[data-own]");
if (own) keepOwn(own);

/**
 * Show an author what only authors may see.
 *
 * @param {HTMLElement} own
 */
function keepOwn(own) {
  own.hidden = false;
  const { bot = "", version = "" } = own.dataset;
  /** @type {HTMLFormElement} */
  const form = must(own.querySelector("[data-token-form]"));
  /** @type {HTMLInputElement} */
  const field = must(form.querySelector("[name=token]"));
  const status = must(own.querySelector("[data-own-status]"));
  /** @type {HTMLElement} */
  const forget = must(own.querySelector("[data-forget]"));
  const shown = must(own.querySelector("[data-own-here]"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    remember(field.value.trim());
    form.reset();
    look();
  });
  forget.addEventListener("click", () => {
    remember(null);
    shown.replaceChildren();
    status.textContent = "";
    forget.hidden = true;
  });
  if (token()) look();

  async function look() {
    status.textContent = "…";
    try {
      /** @type {[Wire.AccountOut, Wire.ReportOut, Wire.PageOfFaultOut, Wire.TimesOut, Wire.BotAuditOut]} */
      const [account, report, faults, times, audit] = await Promise.all([
        ask("/account"),
        ask(`/bots/${bot}/versions/${version}/report`),
        ask(`/bots/${bot}/faults?limit=20`),
        ask(`/bots/${bot}/times`),
        ask(`/bots/${bot}/audit`),
      ]);
      status.textContent = say("hello", { name: account.name });
      forget.hidden = false;
      shown.replaceChildren(
        ...reported(report, bot, version),
        ...faulty(bot, faults.items),
        ...timed(times.profile),
        ...audited(audit),
      );
    } catch (error) {
      shown.replaceChildren();
      status.textContent = explain(error);
      if (error instanceof Refused && error.status === 401) remember(null);
    }
  }
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof Refused)) return say("unreachable");
  if (error.status === 401) return say("token_bad");
  return error.status === 403 ? say("not_yours") : error.message;
}

/**
 * @param {Wire.ReportOut} report
 * @param {string} bot
 * @param {string} version
 */
function reported(report, bot, version) {
  const found = report.findings.length
    ? make("ul", { class: "findings" }, ...report.findings.map(finding))
    : make("p", { class: "quiet" }, say("no_report"));
  /** @type {HTMLElement[]} */
  const nodes = [make("h3", {}, say("report", { number: version })), found];
  if (report.state === "unchecked") {
    nodes[1] = make("p", { class: "problem" }, say("unchecked", { number: version, bot }));
  }
  if (report.output) {
    const output = make("pre", { tabindex: "0" }, report.output);
    nodes.push(make("details", {}, make("summary", {}, say("output")), output));
  }
  return nodes;
}

/**
 * @param {string} bot
 * @param {Wire.FaultOut[]} faults
 */
function faulty(bot, faults) {
  if (!faults.length) return [make("p", { class: "quiet" }, say("no_faults"))];
  return faults.map((fault) => {
    const card = make("pre", { tabindex: "0" }, fault.text ?? "");
    const button = make("button", { type: "button" }, say("card"));
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        save(`card-${fault.id}.json`, await ask(`/bots/${bot}/faults/${fault.id}/card`));
        button.replaceWith(make("p", { class: "quiet" }, say("card_note")));
      } catch (error) {
        button.disabled = false;
        button.after(make("p", { class: "problem" }, explain(error)));
      }
    });
    const kind = say(`fault.${fault.kind}`);
    return make("details", {}, make("summary", {}, say("fault", { id: fault.id, kind })), card, button);
  });
}

/**
 * Say what the audit found, in sentences: nothing, or each test that gave an alarm.
 *
 * @param {Wire.BotAuditOut} audit
 */
function audited(audit) {
  const title = make("h3", {}, say("audit"));
  const alarms = audit.tests.filter((each) => each.alarm !== null);
  if (!alarms.length)
    return [title, make("p", { class: "quiet" }, say("audit_nothing", { matches: number(audit.matches) }))];
  const lines = alarms.map((each) =>
    make(
      "p",
      { class: "problem" },
      say(`audit_${each.test}`, {
        variant: each.variant ? say(`variant.${each.variant}`) : "",
        partner: each.partner ?? "",
        matches: number(each.matches),
        number: each.alarm,
      }),
    ),
  );
  return [title, ...lines];
}

/**
 * @param {string} name
 * @param {unknown} plain
 */
function save(name, plain) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(plain, null, 1)], { type: "application/json" }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** @param {Wire.TimeOut[]} profile */
function timed(profile) {
  if (!profile.length) return [];
  const rows = profile.map((each) =>
    make(
      "li",
      {},
      say("times_row", {
        version: each.version,
        variant: say(`variant.${each.variant}`),
        players: each.players,
        mean: number(each.mean_ms, 1),
        slowest: number(each.slowest_ms, 1),
      }),
    ),
  );
  return [make("h3", {}, say("times")), make("ul", { class: "plain" }, ...rows)];
}
