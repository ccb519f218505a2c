// A comparison: the verdict and why, each difference with its interval, and the questions that changed.

import { h } from "./dom.js";
import { verdictMark } from "./bench_runs.js";
import { counted, figure, rangeAroundZero, scrolls, signed } from "./figures.js";

export const comparisonView = ({ before, judge, compared }) => compared.map((trial) => trialView(trial, before, judge));

function trialView(trial, before, judge) {
  const notes = [`Judged by ${judge}.`, "A bar shows the 95 % interval, its middle is no difference; p is corrected for all that was tested together (Holm).", `A difference of less than ${trial.worth} is not worth having.`, trial.not_compared.length ? `Not in both: ${trial.not_compared.join(", ")}.` : ""];
  return h(
    "article",
    { class: "trial" },
    h("h3", { class: "trial-title" }, h("span", { class: "unseen" }, "Verdict: "), verdictMark(trial.verdict)),
    h("p", { class: "reason" }, trial.reason),
    h("p", { class: "hint", dir: "auto" }, `“${trial.after}” against “${before}”, ${counted(trial.questions, "question")} in both${trial.unpaired ? `, ${trial.unpaired} in one alone and not compared` : ""}. ${trial.settings.length ? `Settings before, after: ${trial.settings.join("; ")}.` : "The settings are the same."}`),
    differences(trial.headline, "The measures of the verdict"),
    h("p", { class: "hint" }, notes.filter(Boolean).join(" ")),
    changes("worse", trial.changes.filter((one) => one.gain < 0).reverse()),
    changes("better", trial.changes.filter((one) => one.gain > 0)),
    trial.costs.length ? more("What a question costs", costs(trial.costs)) : "",
    trial.slices.length ? more("By kind of question and reader", differences(trial.slices, "By kind of question and reader", true)) : "",
    trial.others.length ? more("Other measures", differences(trial.others, "Other measures")) : "",
  );
}

const more = (title, content) => h("details", { class: "more" }, h("summary", {}, title), content);
const column = (name, kind = "n") => h("th", { scope: "col", class: kind }, name);

function differences(rows, label, isSliced = false) {
  const reach = Math.max(...rows.flatMap((one) => [Math.abs(one.low), Math.abs(one.high)]), 0.001);
  return scrolls(
    label,
    h(
      "table",
      { class: "grid differences" },
      h("caption", { class: "unseen" }, label),
      h("thead", {}, h("tr", {}, column("measure", ""), isSliced ? column("questions", "") : "", column("before"), column("after"), column("difference"), column("95 % interval"), h("td", {}), column("p"), column("verdict", ""))),
      h("tbody", {}, rows.map((one) => difference(one, reach, isSliced))),
    ),
  );
}

function difference(one, reach, isSliced) {
  const kind = one.is_beyond_chance ? (one.difference > 0 ? "n right" : "n wrong") : "n";
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, one.measure, isSliced ? "" : h("small", {}, `${counted(one.questions, "question")}, ${one.changed} changed${one.not_judged ? `, ${one.not_judged} not judged` : ""}`)),
    isSliced ? h("td", { dir: "auto" }, one.slice, h("small", {}, String(one.questions))) : "",
    h("td", { class: "n" }, figure(one.before)),
    h("td", { class: "n" }, figure(one.after)),
    h("td", { class: kind }, h("strong", {}, signed(one.difference))),
    h("td", { class: "n" }, `${signed(one.low)} to ${signed(one.high)}`),
    h("td", { class: "drawn" }, rangeAroundZero(one, reach)),
    h("td", { class: "n" }, figure(one.p_holm)),
    h("td", {}, verdictMark(one.verdict), one.needed ? h("small", {}, `needs about ${one.needed.toLocaleString("en")}`) : ""),
  );
}

function changes(name, some) {
  if (!some.length) return "";
  const value = (measure, of) => h("span", { class: "change-value" }, `${measure} ${figure(of.before, measure)} → ${figure(of.after, measure)}`);
  const changed = (one) => Object.entries(one.values).filter(([, of]) => of.before !== of.after);
  return more(
    `${counted(some.length, "question")} got ${name}`,
    h("ul", { class: "changes" }, some.map((one) => h("li", {}, h("span", { class: "asked", dir: "auto" }, one.question), h("span", { class: "book-facts" }, `${one.id}, ${signed(one.gain)}: `, changed(one).map(([measure, of]) => value(measure, of)))))),
  );
}

function costs(rows) {
  const ratio = (of, at) => (of.ratio ? of.ratio[at].toFixed(2) : "–");
  return scrolls(
    "What a question costs",
    h(
      "table",
      { class: "grid" },
      h("thead", {}, h("tr", {}, h("td", {}), column("before"), column("after"), column("after : before"), column("95 % interval"))),
      h("tbody", {}, rows.map((one) => h("tr", {}, h("th", { scope: "row" }, `${one.name}, ${one.average}`), h("td", { class: "n" }, figure(one.before, one.name)), h("td", { class: "n" }, figure(one.after, one.name)), h("td", { class: "n" }, ratio(one, 0)), h("td", { class: "n" }, one.ratio ? `${ratio(one, 1)} to ${ratio(one, 2)}` : "–")))),
    ),
  );
}
