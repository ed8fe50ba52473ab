// @ts-check
// Who sits where: the same as keltis_ladder.match.rotation.

/**
 * Return the positions of the entrants in a rotation, by seat.
 *
 * @param {number} rotation
 * @param {number} players
 */
export function entrantsBySeat(rotation, players) {
  return Array.from({ length: players }, (_, seat) => (seat + rotation) % players);
}
