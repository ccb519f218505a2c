// Asking: a question goes up, an answer comes down, in the conversation that is open.

import { call, Problem } from "./api.js";
import { answerView, spoken } from "./answer.js";
import * as conversation from "./conversation.js";
import { closeDocument, markEarlier } from "./document.js";
import { byId, h, say } from "./dom.js";
import { events } from "./events.js";
import { narrowing } from "./narrowing.js";
import { Progress } from "./progress.js";
import { thumbs } from "./feedback.js";

let running = null;

export function startAsking() {
  const form = byId("ask");
  const question = byId("question");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) running.abort();
    else if (question.value.trim()) ask(question.value.trim());
  });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!running) form.requestSubmit();
    }
  });
}

export function stopAsking() {
  running?.abort();
  return Boolean(running);
}

export function newConversation() {
  running?.abort();
  closeDocument();
  conversation.leave();
  byId("question").focus();
}

async function ask(question) {
  const read = narrowing();
  const progress = new Progress();
  markEarlier();
  const { turn, answer } = conversation.addTurn(question, read, progress.element);
  answer.setAttribute("aria-busy", "true");
  byId("question").value = "";
  running = new AbortController();
  byId("send").textContent = "Stop";
  try {
    const body = { question, conversation: await conversation.current(), ...read, stream: true };
    const given = await answered(body, progress, running.signal);
    answer.replaceChildren(...answerView(given, read), given.turn ? thumbs(given.turn) : "");
    say(spoken(given));
  } catch (error) {
    if (!(error instanceof Problem) && error.name !== "AbortError") throw error;
    answer.replaceChildren(failed(error, () => again(turn, question)));
  } finally {
    answer.setAttribute("aria-busy", "false");
    running = null;
    byId("send").textContent = "Ask";
  }
}

// The answer that was checked. What comes before it is only shown meanwhile.
async function answered(body, progress, signal) {
  const response = await call("v1/ask", { method: "POST", body, accept: "text/event-stream", signal });
  let given = null;
  for await (const [name, says] of events(response)) {
    if (name === "step") progress.step(says);
    else if (name === "draft") progress.draft(says.text);
    else if (name === "answer") given = says;
    else if (name === "error") throw new Problem(says.error.message, says.error.remedy);
  }
  if (given) return given;
  throw new Problem("The answer broke off.", "What was drafted so far has not been checked, and is not shown.");
}

function failed(error, retry) {
  const stopped = error.name === "AbortError";
  return h(
    "div",
    { class: "failed", role: "alert" },
    h("p", {}, h("strong", {}, stopped ? "Stopped." : error.message), " ", stopped ? "" : error.remedy),
    h("button", { type: "button", class: "quiet", onclick: retry }, "Ask again"),
  );
}

function again(turn, question) {
  if (running) return;
  turn.remove();
  ask(question);
}
