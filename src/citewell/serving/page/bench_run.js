// One evaluation: the figures to look at first, what was refused, the floors, and the questions that went worst.

import { floorCurve } from "./curve.js";
import { h } from "./dom.js";
import { counted, figure, moment, range, scrolls } from "./figures.js";
import { questionView } from "./bench_question.js";

// As in a report.
const HEADLINES = ["correct", "recall@5", "nDCG@10", "faithfulness", "citation precision", "refusal precision", "refusal recall", "seconds"];
const WORST = 20;
const EACH = 20; // questions with an answer, and without, that a floor is fitted to

export function evaluationView(result) {
  const [all] = result.slices;
  const failed = result.questions.filter((one) => one.problems.length);
  const isAnswered = result.questions.some((one) => one.answer);
  return [
    facts(result, all),
    h("section", {}, h("h3", {}, `${failed.length.toLocaleString("en")} of ${counted(result.questions.length, "question")} have a problem`), cards(all), isAnswered ? judged(result.judge) : ""),
    h("div", { class: "pair" }, isAnswered ? refusals(result.refusals) : "", floors(result)),
    worst(failed),
    result.slices.length > 1 ? h("details", { class: "more" }, h("summary", {}, "By kind of question and reader"), slices(result.slices)) : "",
  ].filter(Boolean);
}

function facts({ at, citewell, testset, index, settings }, all) {
  const least = index.floor.least;
  const changed = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const rows = {
    When: `${moment(at)}, Citewell ${citewell}`,
    "Test set": `${testset.name}: ${counted(all.questions, "question")} scored; the file has ${testset.reviewed} reviewed and ${testset.unreviewed} not, ${testset.answerable} with an answer and ${testset.unanswerable} without`,
    Index: `${counted(index.documents, "document")}, ${counted(index.chunks, "passage")}, ${index.embedder}`,
    Floor: least === null ? index.floor.origin : `${least.toFixed(2)}, ${index.floor.origin}`,
    Settings: changed.join(", ") || "the defaults",
  };
  return h("dl", { class: "facts" }, Object.entries(rows).map(([name, says]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, says))));
}

function cards(all) {
  const shown = HEADLINES.filter((name) => all.measures[name]);
  return h("dl", { class: "cards" }, shown.map((name) => card(name, all.measures[name])));
}

function card(name, { mean, low, high, questions }) {
  const says = mean === null ? [h("span", {}, "no question has it")] : [h("span", {}, `${figure(low, name)} to ${figure(high, name)}`), h("span", {}, counted(questions, "question"))];
  return h("div", { class: "card" }, h("dt", {}, name), h("dd", { class: "card-mean" }, figure(mean, name)), h("dd", {}, mean === null || name === "seconds" ? "" : range(mean, low, high), h("span", { class: "card-says" }, says)));
}

const judged = ({ name, agreement }) =>
  h("div", { class: "hint" }, h("p", {}, `The spans are 95 % intervals. Judged by ${name}.${agreement.length ? "" : " How well it agrees with people is not known here."}`), agreement.map((line) => h("p", {}, line)));

function refusals({ answerable, unanswerable }) {
  const cell = (count, isRight) => h("td", { class: isRight ? "n right" : count ? "n wrong" : "n" }, count.toLocaleString("en"), h("span", { class: "verdict-word" }, isRight ? " right" : " wrong"));
  const row = (name, of, right) => h("tr", {}, h("th", { scope: "row" }, name), ["answered", "refused"].map((what) => cell(of[what], what === right)));
  return h(
    "section",
    {},
    h("h3", {}, "Refusals"),
    h(
      "table",
      { class: "grid refusals" },
      h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col", class: "n" }, "answered"), h("th", { scope: "col", class: "n" }, "refused"))),
      h("tbody", {}, row("has an answer", answerable, "answered"), row("has none", unanswerable, "refused")),
    ),
  );
}

function floors(result) {
  const answerable = result.questions.filter((one) => one.answerable).length;
  const without = result.questions.length - answerable;
  const none = `A floor is fitted to ${EACH} questions with an answer and ${EACH} without at least. Here are ${answerable} and ${without}.`;
  return h("section", { class: "grows" }, h("h3", {}, "The floor"), result.floor_curve ? floorCurve(result.floor_curve, result.index.floor.least) : h("p", { class: "hint" }, none));
}

// The least right first, and of those the ones whose evidence was found last.
function worst(failed) {
  const value = (one, name) => one.values[name] ?? 0;
  const sorted = [...failed].sort((a, b) => value(a, "correct") - value(b, "correct") || value(a, "nDCG@10") - value(b, "nDCG@10") || (a.id < b.id ? -1 : 1));
  const others = sorted.slice(WORST);
  const list = h("div", { class: "questions" }, sorted.slice(0, WORST).map(questionView));
  const more = h("button", { type: "button", class: "quiet" }, `Show ${counted(others.length, "more question")}`);
  more.onclick = () => {
    list.append(...others.map(questionView));
    more.remove();
    list.children[WORST].querySelector("summary").focus();
  };
  return h("section", {}, h("h3", {}, "Worst questions"), failed.length ? list : h("p", {}, "None has a problem."), others.length ? more : "");
}

function slices(all) {
  const names = HEADLINES.filter((name) => all[0].measures[name]);
  const cell = (score, name) => h("td", { class: "n" }, figure(score?.mean, name), score?.mean === undefined || score.mean === null ? "" : h("small", {}, `${figure(score.low)}–${figure(score.high)}`));
  return scrolls(
    "By kind of question and reader",
    h(
      "table",
      { class: "grid" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "questions"), h("th", { scope: "col", class: "n" }, h("span", { class: "unseen" }, "how many")), names.map((name) => h("th", { scope: "col", class: "n" }, name)))),
      h("tbody", {}, all.map((slice) => h("tr", {}, h("th", { scope: "row", dir: "auto" }, slice.name), h("td", { class: "n" }, slice.questions.toLocaleString("en")), names.map((name) => cell(slice.measures[name], name))))),
    ),
  );
}
