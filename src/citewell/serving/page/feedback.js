// What one thinks of an answer.

import { json } from "./api.js";
import { h } from "./dom.js";

const CHOICES = { up: "Yes", down: "No" };

export function thumbs(turn, chosen = null) {
  const buttons = Object.entries(CHOICES).map(([thumb, name]) =>
    h("button", { type: "button", class: "thumb", "aria-pressed": String(thumb === chosen), onclick: (event) => judge(turn, thumb, event.currentTarget, buttons) }, name),
  );
  return h("p", { class: "thumbs", role: "group", "aria-label": "Was this right?" }, h("span", { "aria-hidden": "true" }, "Was this right?"), buttons);
}

// Pressed again, it is taken back.
async function judge(turn, thumb, pressed, buttons) {
  const taken = pressed.getAttribute("aria-pressed") === "true" ? null : thumb;
  await json("v1/feedback", { method: "POST", body: { turn, thumb: taken } });
  for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed && taken !== null));
}
