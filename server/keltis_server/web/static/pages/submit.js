// Submit a bot with the browser: who you are, the archive, its check, its first match.

import { ask, Refused, remember, token } from "../lib/account.js";
import { finding } from "../lib/findings.js";
import { openLive } from "../lib/live.js";
import { make } from "../lib/nodes.js";
import { number, say } from "../lib/words.js";

const MIB = 1024 * 1024;
const LONGEST_OUTPUT = 200000; // characters of a build that are kept

const walk = document.querySelector("[data-submit]");
const part = (name) => walk.querySelector(`[data-${name}]`);
const stones = [...walk.children];
const soon = part("first").textContent;
let stop = null;

greet();

part("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  remember(event.target.elements.token.value.trim());
  event.target.reset();
  greet();
});

part("register-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, invitation } = event.target.elements;
  const wanted = { name: name.value.trim(), label: "web" };
  if (invitation) wanted.invitation = invitation.value.trim();
  remember(null);
  try {
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

part("upload-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const file = form.elements.archive.files[0];
  const button = form.querySelector("button");
  const largest = Number(walk.dataset.largest);
  part("upload-problem").textContent = "";
  if (!token()) {
    part("unknown").querySelector("input").focus();
    return;
  }
  if (file.size > largest * MIB) {
    part("upload-problem").textContent = say("too_large", { largest });
    return;
  }
  button.disabled = true;
  try {
    const [status, version, name] = await send(file);
    stones[1].classList.add("done");
    follow(name, version.number, status === 200);
  } catch (error) {
    part("upload-problem").textContent = explain(error);
  }
  button.disabled = false;
  part("progress").hidden = true;
});

/** Send a file; fetch() could not say how far it is. */
function send(file) {
  const progress = part("progress");
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
      const [, name] = /bots\/([^/]+)\/versions/.exec(request.getResponseHeader("Location") ?? "") ?? [];
      resolve([request.status, request.response, name]);
    });
    request.send(file);
  });
}

/** Follow a version through its check to its first match. */
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
  const states = { active: "passed", broken: "broken", unchecked: "unchecked" };
  const state = ({ state, reason }) => {
    if (states[state]) doing.textContent = say(states[state], { ...named, reason: reason ?? "" });
    stones[2].classList.toggle("done", state === "active");
    if (state === "broken") part("first").textContent = say("no_first");
    if (state === "unchecked") part("first").textContent = say("no_first_yet");
  };
  const print = (text) => {
    output.textContent = (output.textContent + text).slice(-LONGEST_OUTPUT);
    part("output-frame").hidden = !output.textContent;
  };
  const first = (match) => {
    stones[3].classList.add("done");
    const links = [say("first_played", { bot }), " "];
    links.push(
      make("a", { href: `/matches/${match.number}` }, say("see_match", { number: number(match.number) })),
      " · ",
    );
    links.push(make("a", { href: `/bots/${bot}` }, say("see_bot", { bot })));
    part("first").replaceChildren(...links);
    stop?.();
  };
  stop = openLive().follow(`version/${bot}/${version}`, {
    snapshot(data) {
      findings.replaceChildren(...(data.report?.findings ?? []).map(finding));
      output.textContent = "";
      print(data.report?.output ?? "");
      state(data.version);
      if (data.first?.number) first(data.first);
    },
    event(event) {
      if (event.kind === "doing") doing.textContent = say("checking", { ...named, text: event.text });
      if (event.kind === "output") print(event.text);
      if (event.kind === "finding") findings.append(finding(event));
      if (event.kind === "state") state(event);
      if (event.kind === "match") first(event.match);
    },
  });
}

function explain(error) {
  if (!(error instanceof Refused)) return say("unreachable");
  return error.status === 401 ? say("token_bad") : error.message;
}
