// One question of a run: what was expected, what came, why it failed, and the passages, which open in their documents.

import { json, Problem, query } from "./api.js";
import { openDocument } from "./document.js";
import { h } from "./dom.js";
import { counted } from "./figures.js";
import { dayInWords } from "./narrowing.js";

// Opens to its whole; that is only made then.
export function questionView(one) {
  const body = h("div", { class: "question-body" });
  const view = h(
    "details",
    { class: "question" },
    h(
      "summary",
      {},
      h("span", { class: "asked", dir: "auto" }, one.question),
      h("span", { class: "why" }, one.problems.length ? one.problems.map((problem) => h("span", { dir: "auto" }, problem, " ")) : "No problem."),
      h("span", { class: "book-facts" }, [one.id, ...one.labels].join(" · ")),
    ),
    body,
  );
  view.addEventListener("toggle", () => view.open && !body.hasChildNodes() && body.append(...whole(one)));
  return view;
}

function whole(one) {
  const reads = { ...(one.as_of ? { as_of: one.as_of } : {}) };
  const asker = [one.groups.join(", ") || "everyone", one.as_of ? `on ${dayInWords(one.as_of)}` : ""].filter(Boolean).join(", ");
  return [
    h("p", { class: "hint" }, "Asked as ", h("span", { dir: "auto" }, asker)),
    h("div", { class: "sides" }, h("section", {}, h("h4", {}, "Expected"), expected(one)), h("section", {}, h("h4", {}, "Answered"), answered(one, reads))),
    one.evidence.length ? h("section", {}, h("h4", {}, "Evidence"), h("ol", { class: "evidence" }, one.evidence.map(evidence))) : "",
    one.hits.length ? h("section", {}, h("h4", {}, "Passages"), passages(one, reads)) : "",
  ].filter(Boolean);
}

function expected(one) {
  const list = (says, texts) => (texts.length ? h("p", { class: "hint", dir: "auto" }, `${says} ${texts.join("; ")}`) : "");
  return [
    h("p", { class: "said", dir: "auto" }, one.answerable ? one.expected_answer || "An answer" : "“I don’t know”"),
    list("It must hold", one.must_contain),
    list("It must not hold", one.must_not_contain),
  ];
}

function answered({ answer, error }, reads) {
  if (error) return h("p", { class: "failed", dir: "auto" }, error);
  if (!answer) return h("p", { class: "hint" }, "Only what is found was asked for.");
  if (answer.abstained) return [h("p", { class: "said" }, "“I don’t know”"), h("p", { class: "hint", dir: "auto" }, answer.reason)];
  const sentences = answer.sentences.length ? answer.sentences : [{ text: answer.text, citations: [] }];
  return h("p", { class: "said", dir: "auto" }, sentences.flatMap((sentence) => [sentence.text, ...sentence.citations.map((n) => marker(answer.citations.find((each) => each.n === n), reads)), " "]));
}

const marker = (citation, reads) =>
  h("sup", {}, h("button", { type: "button", class: "marker", "aria-label": `Footnote ${citation.n}: ${citation.title}`, onclick: () => openPlace(citation, reads) }, String(citation.n)));

function evidence({ document, section, page, quote, rank }) {
  const place = [document, section, page ? `page ${page}` : ""].filter(Boolean).join(", ");
  return h(
    "li",
    {},
    h("span", { dir: "auto" }, place),
    rank ? h("span", { class: "found-at" }, ` at rank ${rank}`) : h("span", { class: "not-found" }, " not found"),
    quote ? h("q", { class: "note-quote", dir: "auto" }, quote) : "",
  );
}

// Those that the answer was made of, and those with evidence wherever they stand.
function passages(one, reads) {
  const read = new Set(one.read);
  const shown = one.hits.filter((hit) => read.has(hit.chunk) || hit.evidence.length);
  const others = one.hits.length - shown.length;
  return [h("ol", { class: "found" }, shown.map((hit) => passage(hit, read.has(hit.chunk), reads))), others ? h("p", { class: "hint" }, `${counted(others, "more passage")} looked at, not read.`) : ""];
}

function passage(hit, isRead, reads) {
  const place = [hit.page ? `p. ${hit.page}` : "", hit.section.split(" > ").at(-1)].filter(Boolean).join(" · ");
  const notes = [hit.evidence.length ? `evidence ${hit.evidence.map((at) => at + 1).join(", ")}` : "", isRead ? "" : "not read"].filter(Boolean);
  return h(
    "li",
    { value: String(hit.rank) },
    h(
      "button",
      { type: "button", class: "note found-note", "data-rank": String(hit.rank), onclick: () => openPlace(hit, reads) },
      h("span", { class: "note-title", dir: "auto" }, hit.title),
      h("span", { class: "note-place", dir: "auto" }, place, notes.length ? [place ? " · " : "", h("strong", {}, notes.join(", "))] : ""),
    ),
  );
}

// The place in its document, as far as the document is still the one that was read, and who looks may read it.
async function openPlace(one, read) {
  let facts = null;
  try {
    facts = await json(`v1/documents/${encodeURIComponent(one.document)}${query(read)}`);
  } catch (error) {
    if (error.status !== 404) throw error;
    throw new Problem("This document cannot be shown to you.", "It is not there any more, or none of your own groups may read it.");
  }
  const isSame = one.chunk.startsWith(`${one.document}@${facts.number}#`);
  const [start, end] = isSame ? [one.start, one.end] : [0, 0];
  await openDocument({ ...one, start, end, quote: isSame ? one.quote : "", source: facts.source, read });
}
