// @ts-check
// What was shown last. A view shares everything that a decision did not change with the view before it,
// so that one look tells whether there is anything to draw.

export class Memory {
  /** @type {Map<string, unknown[]>} */
  #known = new Map();

  /**
   * Return whether one of these parts is another than last time.
   *
   * @param {string} name
   * @param {unknown[]} parts
   */
  isNew(name, ...parts) {
    const known = this.#known.get(name);
    if (known && parts.every((part, k) => part === known[k])) return false;
    this.#known.set(name, parts);
    return true;
  }
}
