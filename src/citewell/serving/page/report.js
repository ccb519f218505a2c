// What became of an uploaded file, page by page.

import { h } from "./dom.js";
import { nameOf } from "./shelf.js";

const STATES = { added: "Added", updated: "Updated", renamed: "Renamed", unchanged: "Unchanged", partly: "Partly read", failed: "Not read", skipped: "Skipped" };
const PAGES = { text: "text", ocr: "needs OCR", blank: "blank", failed: "failed", suspicious: "suspicious", skipped: "hidden" };

export function report(file) {
  const pages = Object.entries(file.pages).filter(([, count]) => count);
  const total = pages.reduce((sum, [, count]) => sum + count, 0);
  return h(
    "article",
    { class: `report ${file.state}` },
    h("h3", { dir: "auto" }, file.name ?? nameOf(file.source)),
    h("p", { class: "report-state" }, h("strong", {}, STATES[file.state] ?? file.state), file.chunks ? ` · ${plural(file.chunks, "passage")}` : "", total ? ` · ${plural(total, "page")}` : ""),
    file.reason ? h("p", { dir: "auto" }, file.reason) : "",
    total ? strip(pages, total) : "",
    file.page_problems?.length ? problems(file.page_problems) : "",
    file.warnings.length ? h("ul", { class: "warnings" }, file.warnings.map((one) => h("li", { dir: "auto" }, one))) : "",
    file.inside?.length ? h("details", { class: "more" }, h("summary", {}, `${plural(file.inside.length, "file")} inside`), file.inside.map(report)) : "",
  );
}

// Its pages as a line in the colours of their kinds, and the counts in words.
function strip(pages, total) {
  const parts = pages.map(([kind, count]) => {
    const part = h("span", { class: `pages-${kind}` });
    part.style.flexGrow = String(count / total);
    return part;
  });
  return h("div", { class: "pages" }, h("div", { class: "strip", "aria-hidden": "true" }, parts), h("p", { class: "hint" }, pages.map(([kind, count]) => `${count} ${PAGES[kind] ?? kind}`).join(", ")));
}

function problems(pages) {
  return h(
    "details",
    { class: "more" },
    h("summary", {}, `${plural(pages.length, "page")} that ${pages.length === 1 ? "is" : "are"} not plain text`),
    h("ul", {}, pages.map((page) => h("li", { dir: "auto" }, `Page ${page.label || page.number}, ${PAGES[page.state] ?? page.state}${page.reason ? `: ${page.reason}` : ""}`))),
  );
}

const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
