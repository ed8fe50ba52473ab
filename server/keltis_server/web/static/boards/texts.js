// Texts that change in place.

/** Set the text of an element, if it differs. */
export function put(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}
