// What is read: a day, and some of the caller's groups. It goes with each request, and never widens what one may read.

import { byId, h } from "./dom.js";

let groups = [];
const changed = [];

// As a request says it; what is not chosen is left out.
export function narrowing() {
  const day = byId("as-of").value;
  const chosen = checked();
  return { ...(day ? { as_of: day } : {}), ...(chosen.length < groups.length ? { groups: chosen } : {}) };
}

export const whenNarrowed = (tell) => changed.push(tell);

// In words.
export function narrowed({ as_of, groups: some }) {
  const day = as_of ? `What was in force on ${dayInWords(as_of)}` : "What is in force today";
  return some ? `${day}, as ${some.join(", ") || "nobody"}` : day;
}

export function startNarrowing(me) {
  groups = me.groups;
  const set = byId("groups");
  set.hidden = groups.length < 2;
  set.append(...groups.map((name) => h("label", { class: "check" }, h("input", { type: "checkbox", value: name, checked: true }), name)));
  const dialog = byId("narrow-dialog");
  byId("narrow").addEventListener("click", () => dialog.showModal());
  byId("narrow-reset").addEventListener("click", () => {
    byId("as-of").value = "";
    for (const box of boxes()) box.checked = true;
    tell();
  });
  dialog.addEventListener("change", tell);
}

function tell() {
  byId("narrow-says").textContent = narrowed(narrowing());
  byId("narrow").classList.toggle("chosen", Object.keys(narrowing()).length > 0);
  for (const one of changed) one();
}

const boxes = () => [...byId("groups").querySelectorAll("input")];
const checked = () => boxes().filter((box) => box.checked).map((box) => box.value);

export const dayInWords = (day) =>
  new Date(`${day}T12:00`).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
