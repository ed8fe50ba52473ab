"use strict";
// Run with: node --test

const assert = require("node:assert");
const { PassThrough } = require("node:stream");
const test = require("node:test");
const { readFrames, writeFrame } = require("./frames.js");
const { pack, unpack } = require("./msgpack.js");
const { choose } = require("./strategy.js");

const SAMPLE =
  "86a76e756d626572739c007fffe0ccc8d09ccd9c40d18ad0ceb2d05e00d288ca6c00cf0000010000000000d3ffffff00" +
  "00000000a66f746865727393c0c3c2a474657874d928c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9" +
  "c3a9c3a9c3a9c3a9c3a9c3a9c3a9a7736b697070656492c4026162cb3ff8000000000000a5656d70747980a46d616e79" +
  "dc0014000102030405060708090a0b0c0d0e0f10111213";

const ACTION = "0000001b83a474797065a6616374696f6ea26964cd012ca6616374696f6e05";

test("every type that a message may hold is read", () => {
  assert.deepStrictEqual(unpack(Buffer.from(SAMPLE, "hex")), {
    numbers: [0, 127, -1, -32, 200, -100, 40000, -30000, 3e9, -2e9, 2 ** 40, -(2 ** 40)],
    others: [null, true, false],
    text: "é".repeat(20),
    skipped: [null, null],
    empty: {},
    many: Array.from({ length: 20 }, (_, k) => k),
  });
});

test("what is packed is unpacked again", () => {
  const lengths = [0, 31, 32, 255, 256, 65535, 65536];
  const values = [
    null, true, false, 0, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1,
    -1, -32, -33, -128, -129, -40000, -(2 ** 40), { a: { b: [] } }, Array(15).fill(1), Array(70000).fill(1),
    ...lengths.map((length) => "x".repeat(length)),
  ];
  for (const value of values) assert.deepStrictEqual(unpack(pack(value)), value);
});

test("a message that is cut off is refused", () => {
  const bytes = Buffer.from(SAMPLE, "hex");
  for (let size = 0; size < bytes.length; size++) assert.throws(() => unpack(bytes.subarray(0, size)));
});

test("frames that come in pieces are put together", () => {
  const stream = new PassThrough();
  const message = { type: "action", id: 300, action: 5 };
  writeFrame(stream, message);
  writeFrame(stream, message);
  const bytes = stream.read();
  assert.strictEqual(bytes.toString("hex"), ACTION + ACTION);
  const received = [];
  const pieces = new PassThrough();
  readFrames(pieces, (read) => received.push(read));
  for (const byte of bytes) pieces.emit("data", Buffer.of(byte));
  assert.deepStrictEqual(received, [message, message]);
});

/** Return what the bot chooses among these actions, numbered from 100; `row` is its red row. */
function chosen(row, notation) {
  const legal = notation.map((_, k) => 100 + k);
  return choose({ seat: 0 }, { legal, notation, view: { phase: "turn", rows: [{ R: row }] } });
}

test("it lays the card that skips fewest numbers", () => {
  assert.strictEqual(chosen(["R3"], ["lay R5", "lay R9", "discard R5", "discard R9"]), 100);
});

test("it begins no row in the middle", () => {
  assert.strictEqual(chosen([], ["lay R5", "discard R5"]), 101);
});

test("it draws from the draw pile", () => {
  assert.strictEqual(chosen([], ["draw", "take R"]), 100);
});
