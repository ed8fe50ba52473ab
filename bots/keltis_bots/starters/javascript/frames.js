"use strict";
// Frames: a length of four bytes, big endian, then that many bytes of msgpack.

const { pack, unpack } = require("./msgpack.js");

/** Call `receive` with every message that comes in. */
function readFrames(stream, receive) {
  let waiting = Buffer.alloc(0);
  stream.on("data", (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE(0)) {
      const end = 4 + waiting.readUInt32BE(0);
      const payload = waiting.subarray(4, end);
      waiting = waiting.subarray(end);
      receive(unpack(payload));
    }
  });
}

function writeFrame(stream, message) {
  const payload = pack(message);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  stream.write(Buffer.concat([length, payload]));
}

module.exports = { readFrames, writeFrame };
