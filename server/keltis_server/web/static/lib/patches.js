// @ts-check
// Patches: [[path, value], ...], as frames carry them from one view of a game to the next.

/**
 * Return the view after a patch. What does not change is shared with the view before it.
 *
 * @param {Wire.FrameOut["patch"]} patch
 * @param {Views.View} view
 * @returns {Views.View}
 */
export function apply(patch, view) {
  let after = view;
  for (const [path, value] of patch) after = replace(after, path, 0, value);
  return after;
}

/**
 * @param {any} part
 * @param {(string | number)[]} path
 * @param {number} depth
 * @param {unknown} value
 * @returns {any}
 */
function replace(part, path, depth, value) {
  if (depth === path.length) return value;
  const copy = Array.isArray(part) ? part.slice() : { ...part };
  copy[path[depth]] = replace(copy[path[depth]], path, depth + 1, value);
  return copy;
}
