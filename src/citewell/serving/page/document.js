// The document beside the answer, open at its place: the PDF itself where its file is there, else its text.

import { call, json, Problem, query } from "./api.js";
import { byId, CROSS, h, icon, say } from "./dom.js";
import { openPdf, PdfView } from "./pdf.js";
import { TextView } from "./text.js";

const narrow = matchMedia("(max-width: 60rem)");
let opener = null;
let opened = 0;
let view = null;
let last = { key: "", pdf: null };

// `target` is a citation, a passage or a whole document; `read` how it was found.
export async function openDocument(target) {
  if (target.document.startsWith("web:")) return openWeb(target);
  const turn = ++opened;
  if (byId("reader").hidden) opener = document.activeElement;
  const stage = shell(target);
  try {
    const made = await shown(target, stage, () => turn === opened);
    if (turn !== opened) return made?.close();
    view = made;
    say(`${target.title}${target.page ? `, page ${target.page}` : ""} is open. ${view.marked}`);
  } catch (error) {
    if (turn !== opened) return;
    if (!(error instanceof Problem)) throw error;
    stage.replaceChildren(h("p", { class: "failed", role: "alert" }, h("strong", {}, error.message), " ", error.remedy));
  }
}

// A page of the web is not here: only its own address shows it.
function openWeb(target) {
  if (!/^https?:/i.test(target.source)) return;
  window.open(target.source, "_blank", "noopener,noreferrer");
  say(`${target.title} opens in a tab of its own.`);
}

export function closeDocument() {
  const reader = byId("reader");
  if (reader.hidden) return false;
  opened += 1;
  view?.close();
  view = null;
  reader.hidden = true;
  reader.replaceChildren();
  arrange();
  opener?.focus();
  return true;
}

// Another question is asked: what is open was opened from what was answered before it, and says so.
export function markEarlier() {
  const names = byId("reader").querySelector(".reader-names[data-answered]");
  if (names && !names.querySelector(".earlier-answer")) names.append(h("p", { class: "earlier-answer" }, "Opened from an earlier answer."));
}

export const turnPage = (by) => view?.turn?.(by);

export function startReader() {
  narrow.addEventListener("change", arrange);
}

// Where there is room for one of the two only, the other cannot be reached.
function arrange() {
  const open = !byId("reader").hidden;
  document.body.classList.toggle("reading", open);
  for (const one of document.querySelectorAll(".bar, .talk, .bench, .skip")) one.inert = open && narrow.matches;
}

function shell(target) {
  view?.close();
  view = null;
  const place = [target.page ? `p. ${target.page}` : "", target.section?.replaceAll(" > ", " › ")].filter(Boolean).join(" · ");
  const title = h("h2", { id: "reader-title", tabindex: "-1", dir: "auto" }, target.title || "Document");
  // Of the shelf a whole document is opened; of an answer, a place in it.
  const names = h("div", { class: "reader-names", "data-answered": target.quote === undefined ? null : "" }, title, h("p", { class: "note-place", dir: "auto" }, place));
  const close = h("button", { type: "button", class: "tool compact", "aria-label": "Close the document", "aria-keyshortcuts": "Escape", onclick: closeDocument }, icon(CROSS));
  const stage = h("div", { class: "stage" }, h("p", { class: "hint", role: "status" }, "Opening…"));
  byId("reader").replaceChildren(h("div", { class: "reader-head" }, names, close), stage);
  byId("reader").hidden = false;
  arrange();
  title.focus({ preventScroll: true });
  return stage;
}

async function shown(target, stage, isWanted) {
  const read = target.read ?? {};
  const stretch = (start, end, how = read) => json(`v1/documents/${encodeURIComponent(target.document)}/text${query({ ...how, start, end })}`);
  const at = await stretch(target.start ?? 0, target.end ?? 0);
  const isPdf = /\.pdf$/i.test(target.source);
  const pdf = isPdf && !target.asText && (await isTheFiles(at, read, stretch)) ? await pdfOf(target, at) : null;
  if (!isWanted()) return null;
  // A place may be given by its characters alone.
  const place = { ...target, quote: target.quote ?? at.text, page_number: target.page_number ?? at.elements[0]?.page_number };
  if (pdf) return new PdfView(stage, pdf, () => openDocument({ ...target, asText: true })).open(place, at.elements);
  return new TextView(stage, stretch, at, isPdf && !target.asText ? "The file itself is not here to be shown. This is its text." : "").open(target);
}

// The file is that of the version of today; on another day another may have been in force.
async function isTheFiles(at, read, stretch) {
  if (!read.as_of) return true;
  const { as_of: _, ...today } = read;
  try {
    return (await stretch(0, 0, today)).number === at.number;
  } catch (error) {
    if (error.status === 404) return false;
    throw error;
  }
}

// Null where there is no file that can be shown; its text can be.
async function pdfOf(target, at) {
  const key = `${target.document} ${at.number}`;
  if (last.key === key) return last.pdf;
  try {
    const { groups } = target.read ?? {};
    const response = await call(`v1/documents/${encodeURIComponent(target.document)}/file${query({ groups })}`, { accept: "application/pdf" });
    const pdf = await openPdf(await response.arrayBuffer());
    last.pdf?.destroy?.();
    last = { key, pdf };
    return pdf;
  } catch (error) {
    if (error.status === 404 || /PDF|Password/.test(error.name)) return null;
    throw error;
  }
}
