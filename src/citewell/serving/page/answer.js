// An answer with its footnotes; or that there is none, which is an answer too.

import { h } from "./dom.js";
import { openDocument } from "./document.js";
import { passages } from "./passages.js";
import { funnel, took } from "./trace.js";

export function answerView(answer, read) {
  return answer.abstained ? abstention(answer, read) : cited(answer, read);
}

// What is heard when it has come.
export const spoken = (answer) =>
  answer.abstained ? "There is no answer in these documents." : `Answer with ${counted(answer.citations.length, "footnote")}.`;

function cited(answer, read) {
  const open = (n) => openCitation(answer.citations.find((one) => one.n === n), read);
  const sentences = answer.sentences.length ? answer.sentences : [{ text: answer.answer, citations: [] }];
  return [
    h("p", { class: "answer-text", dir: "auto" }, sentences.flatMap((sentence) => [sentence.text, ...markers(sentence.citations, answer, open), " "])),
    warnings(answer),
    h(
      "ol",
      { class: "notes", "aria-label": "Footnotes" },
      answer.citations.map((one) => note(one, read)),
    ),
    answer.hits ? more("Passages, and how each leg ranked them", passages(answer.hits, read)) : "",
    answer.searched ? more("What was searched", searched(answer)) : "",
  ];
}

function abstention(answer, read) {
  return [
    h(
      "div",
      { class: "abstention" },
      h("p", { class: "dont-know" }, "I don’t know."),
      h("p", {}, "The documents that you may read do not answer this: ", h("span", { dir: "auto" }, answer.reason || "nothing in them does"), "."),
      h("p", { class: "hint" }, "Nothing was made up to fill the gap. Other words may find it, or another day."),
      warnings(answer),
      answer.searched ? [h("h3", {}, "What was searched"), searched(answer)] : "",
    ),
    answer.hits?.length ? more("The nearest passages, which do not answer it", passages(answer.hits, read)) : "",
  ];
}

function markers(numbers, answer, open) {
  return numbers.map((n) => {
    const one = answer.citations.find((citation) => citation.n === n);
    return h("sup", {}, h("button", { type: "button", class: "marker", "aria-label": `Footnote ${n}: ${one.title}, ${placeOf(one)}`, onclick: () => open(n) }, String(n)));
  });
}

function note(one, read) {
  return h(
    "li",
    { value: String(one.n) },
    h(
      "button",
      { type: "button", class: "note", "data-note": String(one.n), onclick: () => openCitation(one, read) },
      h("span", { class: "note-title", dir: "auto" }, one.title),
      h("span", { class: "note-place" }, [one.page ? `p. ${one.page}` : "", sectionOf(one)].filter(Boolean).join(" · ")),
      h("q", { class: "note-quote", dir: "auto" }, one.quote),
    ),
  );
}

function warnings(answer) {
  return answer.warnings.length ? h("ul", { class: "warnings", "aria-label": "Mind" }, answer.warnings.map((one) => h("li", { dir: "auto" }, one))) : "";
}

function searched(answer) {
  return h(
    "div",
    { class: "searched" },
    h("ul", { class: "queries", "aria-label": "Searched for" }, answer.searched.map((one) => h("li", { dir: "auto" }, one))),
    funnel(answer.trace),
    h("p", { class: "hint" }, `In ${took(answer.trace)}${spent(answer.usage)}.`),
  );
}

function spent(usage) {
  if (!usage.calls) return ", without a language model";
  const tokens = (usage.prompt_tokens + usage.completion_tokens).toLocaleString("en");
  const cost = usage.cost_usd ? `, $${usage.cost_usd.toPrecision(2)}` : "";
  return `, ${counted(usage.calls, "call")} of a language model, ${tokens} tokens${cost}`;
}

const more = (title, content) => h("details", { class: "more" }, h("summary", {}, title), content);

const openCitation = (one, read) => openDocument({ ...one, read });

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

const sectionOf = (one) => one.section.split(" > ").at(-1);

const placeOf = (one) => (one.page ? `page ${one.page}` : sectionOf(one) || "in the text");
