// What is seen while an answer is made: the steps, and the draft, which nobody has checked yet.

import { h } from "./dom.js";
import { found } from "./trace.js";

export class Progress {
  constructor() {
    this._steps = h("p", { class: "steps" }, "Looking through the documents…");
    this._text = h("p", { class: "draft-text", dir: "auto" });
    this._draft = h("div", { class: "draft", hidden: true }, h("p", { class: "draft-label" }, "Draft, not checked yet"), this._text);
    this.element = h("div", { class: "progress" }, this._steps, this._draft);
  }

  step(step) {
    const told = found(step);
    if (told) this._steps.textContent = told;
  }

  draft(text) {
    this._draft.hidden = false;
    this._text.append(text);
  }
}
