// Shows the positions that an address asks for: ?variant=keltis&players=2&stage=middle&form=small

import { createBoard, createPlayers } from "/static/boards/board.js";
import "/gallery/probe.js";

const NAMES = ["Heron", "Otter with a rather long name", "Wren", "Badger"];
const asked = new URLSearchParams(location.search);
if (asked.get("theme")) document.documentElement.dataset.theme = asked.get("theme");

function entry({ name, variant, players, view, previous }) {
  const language = asked.get("language") ?? "en";
  const options = { players, names: NAMES.slice(0, players), language };
  const board = createBoard(variant, { ...options, small: asked.get("form") === "small" });
  board.show(view, { previous });
  const article = document.createElement("article");
  if (asked.get("form") === "small") {
    article.append(board.element);
    return article;
  }
  article.className = "entry";
  const title = document.createElement("h2");
  title.textContent = name;
  const side = createPlayers(variant, options);
  side.show(view, { previous });
  article.append(title, board.element, side.element);
  return article;
}

async function showAll() {
  const positions = await (await fetch("/positions.json")).json();
  const wanted = positions.filter((position) =>
    ["variant", "players", "viewer", "stage"].every(
      (key) => !asked.get(key) || asked.get(key).split(",").includes(String(position[key])),
    ),
  );
  const gallery = document.getElementById("gallery");
  if (asked.get("form") === "small") gallery.className = "wall";
  gallery.append(...wanted.map(entry));
  document.documentElement.dataset.ready = "";
}

if (!asked.has("empty")) await showAll();
else document.documentElement.dataset.ready = "";
