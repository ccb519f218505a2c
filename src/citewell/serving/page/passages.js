// The passages of an answer, and the rank that each leg gave them.

import { h } from "./dom.js";
import { openDocument } from "./document.js";
import { LEGS } from "./trace.js";

export function passages(hits, read) {
  const legs = [...new Set(hits.flatMap((hit) => Object.keys(hit.lists)))];
  return h(
    "div",
    { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Passages by rank" },
    h(
      "table",
      { class: "passages" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Rank")), h("th", { scope: "col" }, "Passage"), legs.map((leg) => h("th", { scope: "col", class: "rank" }, LEGS[leg] ?? leg)), h("th", { scope: "col", class: "rank" }, "Score"))),
      h("tbody", {}, hits.map((hit) => row(hit, legs, read))),
    ),
  );
}

function row(hit, legs, read) {
  const place = [hit.page ? `p. ${hit.page}` : "", hit.section.split(" > ").at(-1)].filter(Boolean).join(" · ");
  return h(
    "tr",
    {},
    h("td", { class: "number" }, String(hit.rank)),
    h(
      "th",
      { scope: "row" },
      h(
        "button",
        { type: "button", class: "passage", onclick: () => openDocument({ ...hit, quote: hit.text, read }) },
        h("span", { class: "note-title", dir: "auto" }, hit.title),
        h("span", { class: "note-place" }, place),
        h("span", { class: "passage-text", dir: "auto" }, hit.text),
      ),
    ),
    legs.map((leg) => h("td", { "data-leg": LEGS[leg] ?? leg, class: hit.lists[leg] === 1 ? "rank first" : "rank" }, hit.lists[leg] ? String(hit.lists[leg]) : h("span", { "aria-label": "not found" }, "–"))),
    h("td", { "data-leg": "Score", class: "rank score" }, hit.score.toFixed(3)),
  );
}
