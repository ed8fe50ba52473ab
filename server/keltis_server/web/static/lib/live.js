// @ts-check
// The websocket of a page: one for everything, which comes back by itself.
//
//   const live = openLive();
//   const stop = live.follow("lobby", { snapshot(data) {}, event(event) {}, end(data) {}, error(error) {} });
//   live.onState((state, since) => ...);   // "lost" or "back"
//
// After a break a topic goes on where it was, or begins again with a snapshot. Nothing is told twice.

const PROTOCOL = "keltis.v1.json";
const FIRST_WAIT = 500; // ms before the first attempt to come back; twice as long after each failure
const LONGEST_WAIT = 20000;
const LONGEST_SILENCE_MS = 45000; // ms without a word after which the connection is taken for dead
const PING = 20000;

/** @type {Connection | null} */
let shared = null;

/** Return the socket of this page; it is opened when the first topic is followed. */
export function openLive() {
  shared ??= new Connection();
  return shared;
}

/**
 * @typedef {(state: "lost" | "back", since?: Date) => void} Watcher
 * @typedef {Live.Listener<any, any, any>} Listener
 * @typedef {{seq: number | null, listeners: Set<Listener>, ended: boolean, failures: number}} Topic
 */

class Connection {
  /** @type {Map<string, Topic>} */
  #topics = new Map(); // by name
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {string | null} */
  #epoch = null;
  /** @type {string | null} */
  #token = null;
  #wait = FIRST_WAIT;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {ReturnType<typeof setInterval> | null} */
  #ping = null;
  #heard = 0;
  /** @type {Date | null} */
  #lostAt = null;
  /** @type {Set<Watcher>} */
  #watchers = new Set();
  #ready = false; // whether we may subscribe: the welcome has come
  #greeted = false; // whether the welcome before our hello has come

  constructor() {
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#hurry();
    });
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.#connect();
    });
  }

  /**
   * Follow a topic; returns a function that ends it.
   *
   * @template {keyof Live.Topics} Kind
   * @param {Kind | `${Kind}/${string}`} topic
   * @param {Live.Topics[Kind]} listener
   */
  follow(topic, listener) {
    let entry = this.#topics.get(topic);
    if (!entry) {
      entry = { seq: null, listeners: new Set(), ended: false, failures: 0 };
      this.#topics.set(topic, entry);
    } else if (entry.seq !== null) {
      entry.seq = null; // who joins late needs a snapshot, and everybody can take one
    }
    entry.listeners.add(listener);
    if (this.#ready) this.#subscribe(topic, entry);
    else this.#connect();
    return () => {
      entry.listeners.delete(listener);
      if (entry.listeners.size || this.#topics.get(topic) !== entry) return;
      this.#topics.delete(topic);
      if (this.#ready && !entry.ended) this.#send({ op: "unsubscribe", topic });
    };
  }

  /**
   * Say who we are; topics that are for authors only need it. Topics that are followed begin again.
   *
   * @param {string | null} token
   */
  authorise(token) {
    if (token === this.#token) return;
    this.#token = token;
    for (const entry of this.#topics.values()) entry.seq = null;
    if (this.#socket) {
      this.#drop();
      this.#connect();
    }
  }

  /**
   * Be told of "lost" and "back"; with "lost" comes since when.
   *
   * @param {Watcher} watcher
   */
  onState(watcher) {
    this.#watchers.add(watcher);
    if (this.#lostAt) watcher("lost", this.#lostAt);
    return () => this.#watchers.delete(watcher);
  }

  #connect() {
    if (this.#socket || !this.#topics.size) return;
    this.#rest();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/api/v1/live`, PROTOCOL);
    this.#socket = socket;
    this.#heard = Date.now();
    socket.addEventListener("open", () => {
      if (this.#token) this.#send({ op: "hello", token: this.#token });
    });
    socket.addEventListener("message", (event) => {
      if (socket === this.#socket) this.#receive(JSON.parse(event.data));
    });
    socket.addEventListener("close", () => {
      if (socket === this.#socket) this.#lose();
    });
    this.#ping = setInterval(() => {
      if (Date.now() - this.#heard > LONGEST_SILENCE_MS) this.#lose();
      else if (this.#ready) this.#send({ op: "ping" });
    }, PING);
  }

  /** @param {Live.Message} message */
  #receive(message) {
    this.#heard = Date.now();
    switch (message.op) {
      case "welcome":
        return this.#welcome(message);
      case "snapshot":
        return this.#snapshot(message);
      case "resumed":
        return this.#settle();
      case "delta":
        return this.#delta(message);
      case "end":
        return this.#end(message);
      case "error":
        return this.#fail(message);
    }
  }

  /** @param {Live.Told<"welcome">} message */
  #welcome(message) {
    if (message.epoch !== this.#epoch) for (const entry of this.#topics.values()) entry.seq = null;
    this.#epoch = message.epoch;
    if (this.#token && !this.#greeted) {
      this.#greeted = true; // this one was for nobody; the answer to our hello comes next
      return;
    }
    this.#begin();
  }

  #begin() {
    this.#ready = true;
    if (!this.#topics.size) this.#settle();
    for (const [topic, entry] of this.#topics) if (!entry.ended) this.#subscribe(topic, entry);
  }

  #settle() {
    this.#wait = FIRST_WAIT;
    if (!this.#lostAt) return;
    this.#lostAt = null;
    for (const watcher of this.#watchers) watcher("back");
  }

  /** @param {Live.Told<"snapshot">} message */
  #snapshot(message) {
    this.#settle();
    const entry = this.#topics.get(message.topic);
    if (!entry) return;
    entry.seq = message.seq;
    for (const listener of entry.listeners) listener.snapshot?.(message.data);
  }

  /** @param {Live.Told<"delta">} message */
  #delta(message) {
    const entry = this.#topics.get(message.topic);
    if (!entry || entry.seq === null) return; // a snapshot is on its way
    if (message.seq !== entry.seq + 1) {
      if (message.seq <= entry.seq) return;
      entry.seq = null; // something is missing: begin again
      return this.#subscribe(message.topic, entry);
    }
    entry.seq = message.seq;
    for (const event of message.data) for (const listener of entry.listeners) listener.event?.(event);
  }

  /** @param {Live.Told<"end">} message */
  #end(message) {
    this.#settle();
    const entry = this.#topics.get(message.topic);
    if (!entry) return;
    entry.ended = true;
    for (const listener of entry.listeners) listener.end?.(message.data);
  }

  /** @param {Live.Told<"error">} message */
  #fail(message) {
    this.#settle();
    if (message.topic === null || message.topic === undefined) {
      if (message.code === "unauthorized") {
        this.#token = null; // go on as nobody
        this.#begin();
      }
      return;
    }
    const entry = this.#topics.get(message.topic);
    if (entry && message.code === "failed") return this.#beginAgain(message.topic, entry);
    if (entry) for (const listener of entry.listeners) listener.error?.(message);
  }

  /**
   * Subscribe afresh to a topic that failed on the server, later each time.
   *
   * @param {string} topic
   * @param {Topic} entry
   */
  #beginAgain(topic, entry) {
    entry.seq = null;
    const wait = Math.min(FIRST_WAIT * 2 ** entry.failures, LONGEST_WAIT) * (0.75 + Math.random() / 2);
    entry.failures += 1;
    setTimeout(() => {
      if (this.#ready && this.#topics.get(topic) === entry) this.#subscribe(topic, entry);
    }, wait);
  }

  /**
   * @param {string} topic
   * @param {Topic} entry
   */
  #subscribe(topic, entry) {
    const message = { op: "subscribe", topic };
    if (entry.seq !== null) Object.assign(message, { epoch: this.#epoch, since: entry.seq });
    entry.ended = false;
    this.#send(message);
  }

  /** @param {{op: string, topic?: string, token?: string}} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #lose() {
    this.#drop();
    if (!this.#lostAt) {
      this.#lostAt = new Date();
      for (const watcher of this.#watchers) watcher("lost", this.#lostAt);
    }
    const wait = this.#wait * (0.75 + Math.random() / 2); // not everybody at once
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    this.#timer = setTimeout(() => this.#connect(), wait);
  }

  #hurry() {
    if (this.#timer === null) return;
    this.#rest();
    this.#wait = FIRST_WAIT;
    this.#connect();
  }

  #drop() {
    if (this.#ping !== null) clearInterval(this.#ping);
    const socket = this.#socket;
    this.#socket = null;
    this.#ready = false;
    this.#greeted = false;
    socket?.close();
  }

  /** Wait for another attempt no more. */
  #rest() {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #close() {
    this.#rest();
    this.#drop();
  }
}
