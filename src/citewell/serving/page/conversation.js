// The conversation that is open, kept by the service for its caller; and those before.

import { answerView } from "./answer.js";
import { json } from "./api.js";
import { closeDocument } from "./document.js";
import { byId, CROSS, h, icon } from "./dom.js";
import { thumbs } from "./feedback.js";
import { dayInWords, narrowed } from "./narrowing.js";

const LISTED = 6;
let open = null;

// Its id; a new one is started with the first question.
export async function current() {
  open ??= (await json("v1/conversations", { method: "POST" })).conversation;
  return open;
}

// A turn with a place for its answer, in view.
export function addTurn(question, read, ...content) {
  const answer = h("div", { class: "answer", "aria-live": "polite" }, content);
  const note = Object.keys(read).length ? h("p", { class: "narrowed" }, narrowed(read)) : "";
  const turn = h("article", { class: "turn", "aria-label": "Question and answer" }, h("h2", { dir: "auto" }, question), note, answer);
  byId("turns").append(turn);
  begun(true);
  turn.scrollIntoView({ block: "start" });
  return { turn, answer };
}

export function leave() {
  open = null;
  byId("turns").replaceChildren();
  begun(false);
  listEarlier();
}

export async function listEarlier() {
  const { conversations } = await json(`v1/conversations?limit=${LISTED}`);
  const asked = conversations.filter((one) => one.turn_count);
  const title = h("h3", {}, "Earlier conversations");
  byId("earlier").replaceChildren(...(asked.length ? [title, h("ul", {}, asked.map(entry))] : []));
}

function entry(one) {
  const line = h(
    "li",
    { class: "book-line" },
    h("button", { type: "button", class: "book", onclick: () => show(one.conversation) }, h("span", { class: "book-title", dir: "auto" }, one.title), h("span", { class: "book-facts" }, dayInWords(one.changed.slice(0, 10)))),
    h("button", { type: "button", class: "tool compact", "aria-label": `Delete the conversation ${one.title}`, onclick: () => remove(one.conversation, line) }, icon(CROSS)),
  );
  return line;
}

async function show(id) {
  const found = await json(`v1/conversations/${encodeURIComponent(id)}`);
  closeDocument();
  byId("turns").replaceChildren();
  open = id;
  for (const one of found.turns) addTurn(one.question, one.as_of ? { as_of: one.as_of } : {}, stored(one));
  byId("question").focus();
}

// As it was answered then; the passages are not kept.
function stored(one) {
  if (one.withheld) return [h("p", { class: "hint" }, "It was answered from what you may not read any more.")];
  return [...answerView(one, one.as_of ? { as_of: one.as_of } : {}), thumbs(one.turn, one.feedback?.thumb)];
}

async function remove(id, line) {
  await json(`v1/conversations/${encodeURIComponent(id)}`, { method: "DELETE" });
  line.remove();
}

function begun(yes) {
  byId("welcome").hidden = yes;
  byId("new").hidden = !yes;
}
