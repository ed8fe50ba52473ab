// @ts-check
// Texts that change in place.

/**
 * Set the text of an element that has nothing else, if it differs.
 *
 * @param {Element} node
 * @param {string | number} text
 */
export function put(node, text) {
  const wanted = String(text);
  const { firstChild } = node;
  if (!firstChild) node.append(wanted);
  else if (firstChild.nodeValue !== wanted) firstChild.nodeValue = wanted;
}
