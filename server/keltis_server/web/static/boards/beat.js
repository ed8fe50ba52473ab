// @ts-check
// The beat to which small boards are drawn. Whatever changes, a browser composes the whole page again: many boards
// on one page that change at the same moment cost little more than one, also if each is in a frame of its own.

const BEAT = 300; // ms

/** Return when to do something that is due in a while: on the first beat after that, in ms from now. */
export function onBeat(delay = 0) {
  return delay + BEAT - ((Date.now() + delay) % BEAT);
}
