// @ts-check
// A stage for a drawing: what never changes at the back, what does in front of it.
//
// They are two pictures, one on the other: the grain of the stones is costly to paint, and is
// painted once, however often the front changes.

import { html, Layer, svg } from "./svg.js";
import { installPatterns } from "./symbols.js";

export class Stage {
  /**
   * @param {Views.Variant} variant
   * @param {number} width
   * @param {number} height
   * @param {boolean} small
   */
  constructor(variant, width, height, small) {
    installPatterns();
    const viewBox = `0 0 ${width} ${height}`;
    this.back = svg("svg", { class: "board-back", viewBox, "aria-hidden": "true" });
    this.front = svg("svg", { class: "board-front", viewBox, "aria-hidden": "true" });
    this.element = html(
      "div",
      { class: `board board-${variant}${small ? " board-small" : ""}` },
      this.back,
      this.front,
    );
  }

  /**
   * Add a layer of pieces in front of those there are.
   *
   * @param {string} name
   */
  layer(name) {
    const layer = new Layer(name);
    this.front.append(layer.element);
    return layer;
  }
}
