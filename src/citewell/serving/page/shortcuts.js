// Keys that do something by themselves: never while one types, and not at all for who has switched them off.

import { leaveBench, toggleBench } from "./bench.js";
import { newConversation, stopAsking } from "./ask.js";
import { closeDocument, turnPage } from "./document.js";
import { byId } from "./dom.js";

const OFF = "citewell-single-keys-off";

const SINGLE = {
  "/": () => {
    leaveBench();
    byId("question").focus();
  },
  "?": () => byId("keys").click(),
  "[": () => turnPage(-1),
  "]": () => turnPage(1),
  b: () => toggleBench(),
  n: () => {
    leaveBench();
    newConversation();
  },
  r: () => byId("narrow").click(),
  t: () => byId("theme").click(),
  u: () => byId("add").click(),
};

export function startShortcuts() {
  const box = byId("single-keys");
  box.checked = !localStorage.getItem(OFF);
  box.addEventListener("change", () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  byId("keys").addEventListener("click", () => byId("keys-dialog").showModal());
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.isComposing) return;
    if (event.key === "Escape") return stopAsking() || closeDocument();
    if (!box.checked || event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return undefined;
    const act = SINGLE[event.key] ?? (/^[1-9]$/.test(event.key) ? () => footnote(event.key) : null);
    if (act) {
      event.preventDefault();
      act();
    }
    return undefined;
  });
}

const types = (element) => element.matches("input, textarea, select, [contenteditable]");

function footnote(n) {
  const last = [...document.querySelectorAll(".turn")].at(-1);
  last?.querySelector(`[data-note="${n}"]`)?.click();
}
