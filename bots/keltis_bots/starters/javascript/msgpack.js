"use strict";
// msgpack: null, booleans, whole numbers, texts, arrays and maps become JavaScript values.
// Messages hold nothing else; binary data and floats are skipped and become null.

/** Return a value as msgpack. */
function pack(value) {
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === "boolean") return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === "number") return packInteger(value);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([header(bytes.length, 0xa0, 32, 0xd9, 0xda, 0xdb), bytes]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([header(value.length, 0x90, 16, 0, 0xdc, 0xdd), ...value.map(pack)]);
  }
  const fields = Object.entries(value).flat().map(pack);
  return Buffer.concat([header(fields.length / 2, 0x80, 16, 0, 0xde, 0xdf), ...fields]);
}

/** Return a length with its type: within the first byte if it is short, or behind it. */
function header(length, short, shortEnd, with8, with16, with32) {
  if (length < shortEnd) return Buffer.of(short | length);
  if (with8 && length < 0x100) return Buffer.of(with8, length);
  if (length < 0x10000) return Buffer.of(with16, length >> 8, length & 0xff);
  const bytes = Buffer.of(with32, 0, 0, 0, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

function packInteger(value) {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`);
  if (value >= -32 && value < 128) return Buffer.of(value & 0xff);
  const bytes = Buffer.alloc(9);
  if (value >= 0 && value < 0x100) return Buffer.of(0xcc, value);
  if (value >= 0 && value < 0x10000) return Buffer.of(0xcd, value >> 8, value & 0xff);
  if (value >= 0 && value < 0x100000000) {
    bytes[0] = 0xce;
    bytes.writeUInt32BE(value, 1);
    return bytes.subarray(0, 5);
  }
  bytes[0] = 0xd3;
  bytes.writeBigInt64BE(BigInt(value), 1);
  return bytes;
}

/** Return the value that the bytes hold. */
function unpack(bytes) {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (reader.at !== bytes.length) throw new RangeError("bytes are left behind the value");
  return value;
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  value() {
    const type = this.unsigned(1);
    if (type < 0x80) return type;
    if (type < 0x90) return this.map(type & 0x0f);
    if (type < 0xa0) return this.array(type & 0x0f);
    if (type < 0xc0) return this.text(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    switch (type) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: case 0xc5: case 0xc6: return this.skip(this.unsigned(1 << (type - 0xc4)));
      case 0xca: return this.skip(4);
      case 0xcb: return this.skip(8);
      case 0xcc: case 0xcd: case 0xce: case 0xcf: return this.unsigned(1 << (type - 0xcc));
      case 0xd0: case 0xd1: case 0xd2: case 0xd3: return this.signed(1 << (type - 0xd0));
      case 0xd9: case 0xda: case 0xdb: return this.text(this.unsigned(1 << (type - 0xd9)));
      case 0xdc: case 0xdd: return this.array(this.unsigned(2 << (type - 0xdc)));
      case 0xde: case 0xdf: return this.map(this.unsigned(2 << (type - 0xde)));
    }
    throw new RangeError(`no message holds the msgpack type 0x${type.toString(16)}`);
  }

  /** Step over the next bytes and return where they begin. */
  step(size) {
    const begin = this.at;
    if (begin + size > this.bytes.length) throw new RangeError("the message is cut off");
    this.at += size;
    return begin;
  }

  skip(size) {
    this.step(size);
    return null;
  }

  unsigned(size) {
    const begin = this.step(size);
    if (size === 8) return Number(this.bytes.readBigUInt64BE(begin));
    return this.bytes.readUIntBE(begin, size);
  }

  signed(size) {
    const begin = this.step(size);
    if (size === 8) return Number(this.bytes.readBigInt64BE(begin));
    return this.bytes.readIntBE(begin, size);
  }

  text(size) {
    const begin = this.step(size);
    return this.bytes.toString("utf8", begin, begin + size);
  }

  array(length) {
    return Array.from({ length }, () => this.value());
  }

  map(length) {
    const fields = {};
    for (let k = 0; k < length; k++) {
      const name = this.value();
      fields[name] = this.value();
    }
    return fields;
  }
}

module.exports = { pack, unpack };
