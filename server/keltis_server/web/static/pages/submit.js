// @ts-check
// Submit a bot with the browser: who you are, the archive, its check, its first match.

import { ask, Refused, remember, token } from "../lib/account.js";
import { finding } from "../lib/findings.js";
import { openLive } from "../lib/live.js";
import { make, must } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";

const MIB = 1024 * 1024;
const LONGEST_OUTPUT = 200000; // characters of a build that are kept

/** @type {HTMLElement} */
const walk = must(document.querySelector("[data-submit]"));
const stones = [...walk.children];
/** @type {HTMLProgressElement} */
const progress = must(walk.querySelector("[data-progress]"));
const soon = part("first").textContent;
/** @type {(() => void) | null} */
let stop = null;

greet();

whenSent("token-form", (form) => {
  remember(textOf(form, "token") ?? null);
  form.reset();
  greet();
});

whenSent("register-form", async (form) => {
  const wanted = { name: textOf(form, "name"), label: "web", invitation: textOf(form, "invitation") };
  remember(null);
  try {
    /** @type {Wire.OpenedOut} */
    const opened = await ask("/accounts", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(wanted),
    });
    remember(opened.token);
    part("token-text").textContent = opened.token;
    part("copy-token").dataset.copy = opened.token;
    part("new-token").hidden = false;
    greet();
  } catch (error) {
    part("who-problem").textContent = explain(error);
  }
});

part("forget").addEventListener("click", () => {
  remember(null);
  part("new-token").hidden = true;
  part("token-text").textContent = "";
  greet();
});

/** Show who we are, if anybody. */
async function greet() {
  part("who-problem").textContent = "";
  /** @type {Wire.AccountOut | null} */
  let account = null;
  if (token()) {
    try {
      account = await ask("/account");
    } catch (error) {
      part("who-problem").textContent = explain(error);
      if (error instanceof Refused && error.status === 401) remember(null);
    }
  }
  part("known").hidden = account === null;
  part("unknown").hidden = account !== null;
  stones[0].classList.toggle("done", account !== null);
  if (account) {
    part("known-text").textContent = say("uploads_left", { name: account.name, count: account.uploads_left });
    openLive().authorise(token());
  }
}

whenSent("upload-form", async (form) => {
  /** @type {HTMLInputElement} */
  const archive = must(form.querySelector("[name=archive]"));
  const file = must(archive.files?.[0]);
  const button = must(form.querySelector("button"));
  const largest = Number(walk.dataset.largest);
  part("upload-problem").textContent = "";
  if (!token()) {
    part("unknown").querySelector("input")?.focus();
    return;
  }
  if (file.size > largest * MIB) {
    part("upload-problem").textContent = say("too_large", { largest });
    return;
  }
  button.disabled = true;
  try {
    const { status, version, name } = await send(file);
    stones[1].classList.add("done");
    follow(name, version.number, status === 200);
  } catch (error) {
    part("upload-problem").textContent = explain(error);
  }
  button.disabled = false;
  progress.hidden = true;
});

/**
 * Send a file; fetch() could not say how far it is.
 *
 * @param {File} file
 * @returns {Promise<{status: number, version: Wire.VersionOut, name: string}>}
 */
function send(file) {
  progress.value = 0;
  progress.hidden = false;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/v1/bots");
    request.setRequestHeader("Authorization", `Bearer ${token()}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => (progress.value = total ? loaded / total : 0));
    request.addEventListener("error", () => reject(new Error("unreachable")));
    request.addEventListener("load", () => {
      if (request.status >= 300) {
        return reject(new Refused(request.status, request.response?.detail ?? request.statusText));
      }
      const [, name = ""] = /bots\/([^/]+)\/versions/.exec(request.getResponseHeader("Location") ?? "") ?? [];
      resolve({ status: request.status, version: request.response, name });
    });
    request.send(file);
  });
}

/**
 * Follow a version through its check to its first match.
 *
 * @param {string} bot
 * @param {number} version
 * @param {boolean} same
 */
function follow(bot, version, same) {
  stop?.();
  const named = { bot, number: version };
  const doing = part("doing");
  const findings = part("findings");
  const output = part("output");
  findings.replaceChildren();
  output.textContent = "";
  doing.textContent = say(same ? "same" : "waiting", named);
  part("first").textContent = soon;
  stones[3].classList.remove("done");
  /** @type {Record<string, string>} */
  const states = { active: "passed", unchecked: "unchecked" };
  const state = (/** @type {Pick<Wire.VersionOut, "state" | "reason_code" | "reason_details">} */ now) => {
    const { state, reason_code: code, reason_details: details } = now;
    if (states[state]) doing.textContent = say(states[state], named);
    if (state === "broken") doing.textContent = broken(named, code ?? "failed", details ?? {});
    stones[2].classList.toggle("done", state === "active");
    if (state === "broken") part("first").textContent = say("no_first");
    if (state === "unchecked") part("first").textContent = say("no_first_yet");
  };
  const print = (/** @type {string} */ text) => {
    output.textContent = (output.textContent + text).slice(-LONGEST_OUTPUT);
    part("output-frame").hidden = !output.textContent;
  };
  const first = (/** @type {number} */ match) => {
    stones[3].classList.add("done");
    part("first").replaceChildren(
      say("first_played", { bot }),
      " ",
      make("a", { href: `/matches/${match}` }, say("see_match", { number: number(match) })),
      " · ",
      make("a", { href: `/bots/${bot}` }, say("see_bot", { bot })),
    );
    stop?.();
  };
  stop = openLive().follow(`version/${bot}/${version}`, {
    snapshot(data) {
      findings.replaceChildren(...(data.report?.findings ?? []).map(finding));
      output.textContent = "";
      print(data.report?.output ?? "");
      state(data.version);
      if (data.first?.number) first(data.first.number);
    },
    event(event) {
      if (event.kind === "doing") doing.textContent = say("checking", { ...named, text: event.text });
      if (event.kind === "output") print(event.text);
      if (event.kind === "finding") findings.append(finding(event));
      if (event.kind === "state") state(event);
      if (event.kind === "match" && event.match.number) first(event.match.number);
    },
  });
}

/**
 * Why a version is broken.
 *
 * @param {{bot: string, number: number}} named
 * @param {string} code
 * @param {Record<string, string | number | boolean>} details
 */
function broken(named, code, { rated, ...details }) {
  return say(`broken_${code}${rated ? "_rated" : ""}`, { ...details, ...named });
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof Refused)) return say("unreachable");
  return error.status === 401 ? say("token_bad") : error.message;
}

/**
 * The part of the page that has this name.
 *
 * @param {string} name
 * @returns {HTMLElement}
 */
function part(name) {
  return must(walk.querySelector(`[data-${name}]`));
}

/**
 * Do something with a form instead of sending it; a page may lack it.
 *
 * @param {string} name
 * @param {(form: HTMLFormElement) => void} act
 */
function whenSent(name, act) {
  /** @type {HTMLFormElement | null} */
  const form = walk.querySelector(`[data-${name}]`);
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    act(form);
  });
}

/**
 * What was written into a field of a form; nothing if the form has no such field.
 *
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function textOf(form, name) {
  /** @type {HTMLInputElement | null} */
  const field = form.querySelector(`[name=${name}]`);
  return field?.value.trim();
}
