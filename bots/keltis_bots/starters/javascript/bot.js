"use strict";
// my-javascript-bot: speaks the protocol; what it chooses is in strategy.js.

const { readFrames, writeFrame } = require("./frames.js");
const { choose } = require("./strategy.js");

console.log = console.error; // stdout belongs to the protocol
console.info = console.error;

let game = null;

readFrames(process.stdin, (message) => {
  switch (message.type) {
    case "hello":
      writeFrame(process.stdout, { type: "hello", protocol: 1, name: "my-javascript-bot" });
      break;
    case "game":
      game = message;
      break;
    case "choose":
      writeFrame(process.stdout, { type: "action", id: message.id, action: choose(game, message) });
      break;
    case "error":
      console.error(`refused by the server (${message.code}): ${message.text}`);
      break;
    // "end" needs no answer. When stdin is closed, nothing is left to do and node ends.
  }
});
