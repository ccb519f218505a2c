// The documents that there are to ask, in the room where nothing has been asked yet.

import { json, query } from "./api.js";
import { byId, h } from "./dom.js";
import { dayInWords, narrowing } from "./narrowing.js";
import { openDocument } from "./document.js";

const SHOWN = 12;
const HASH = /^[0-9a-f]{8}$/; // what a version is called of which nobody says what it is

export async function fillShelf() {
  const read = narrowing();
  const found = await json(`v1/documents${query({ ...read, limit: SHOWN })}`);
  const shelf = byId("shelf");
  if (!found.total) {
    shelf.replaceChildren(h("p", { class: "hint" }, "There is no document here that you may read."));
    return;
  }
  const more = found.total - found.documents.length;
  shelf.replaceChildren(
    h("h3", {}, found.total === 1 ? "One document to read" : `${found.total.toLocaleString("en")} documents to read`),
    h("ul", {}, found.documents.map((one) => h("li", {}, entry(one, read)))),
    more > 0 ? h("p", { class: "hint" }, `and ${more.toLocaleString("en")} more`) : "",
  );
}

function entry(one, read) {
  return h(
    "button",
    { type: "button", class: "book", onclick: () => openDocument({ document: one.document, title: one.title, source: one.source, read }) },
    h("span", { class: "book-title", dir: "auto" }, one.title || nameOf(one.source)),
    h("span", { class: "book-facts" }, facts(one).join(" · ")),
  );
}

function facts(one) {
  return [
    kindOf(one.source),
    one.document_version && !HASH.test(one.document_version) ? `version ${one.document_version}` : "",
    one.valid_from ? `from ${dayInWords(one.valid_from)}` : "",
    one.valid_to ? `to ${dayInWords(one.valid_to)}` : "",
    one.trust === "untrusted" ? "not trusted" : "",
  ].filter(Boolean);
}

export function nameOf(source) {
  const name = source.slice(source.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a file's name need not be UTF-8
  }
}

function kindOf(source) {
  const name = nameOf(source);
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toUpperCase() : "";
}
