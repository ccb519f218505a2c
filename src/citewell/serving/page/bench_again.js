// What can be done with a run that is over: compare it with another one, keep its result as a file.

import { json } from "./api.js";
import { h } from "./dom.js";
import { moment } from "./figures.js";
import { named } from "./overrides.js";
import { askedIn } from "./testset.js";

// `others` are the other evaluations; those of the same test set with other settings can be compared.
export function againView(run, result, others, whenStarted) {
  return h("section", { class: "again" }, h("h3", {}, "Compare"), compareForm(run, result, others.filter(isComparable(run)), whenStarted), download(run, result));
}

const isComparable = (run) => (one) =>
  one.job !== run.job && one.kind === "evaluation" && one.state === "done" && one.testset === run.testset && one.judge === run.judge && tried(one) !== tried(run);

const tried = (run) => named(run.settings[0].settings);

// The same questions are asked anew with both settings, and compared question by question.
function compareForm(run, result, others, whenStarted) {
  const asItIs = Object.keys(run.settings[0].settings).length && !others.some((one) => tried(one) === named({})) ? [{ settings: [{ settings: {} }] }] : [];
  const choices = [...asItIs, ...others];
  if (!choices.length) return h("p", { class: "hint" }, "There is no run of these questions with other settings. Start one from ", h("a", { href: "#bench" }, "the bench"), ", and compare the two here.");
  const select = h("select", { id: "against" }, choices.map((one, at) => h("option", { value: String(at) }, `${tried(one)}${one.created ? `, ${moment(one.created)}` : ""}`)));
  const button = h("button", { type: "submit", class: "primary" }, "Compare");
  const onSubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      whenStarted(await json("v1/comparisons", { method: "POST", body: request(run, result, choices[Number(select.value)]) }));
    } finally {
      button.disabled = false;
    }
  };
  return h(
    "form",
    { class: "against", onsubmit: onSubmit },
    h("label", { for: "against" }, `“${tried(run)}” against`),
    select,
    button,
    h("p", { class: "hint" }, "The same questions are asked again with both settings."),
  );
}

function request(run, result, other) {
  return {
    questions: askedIn(result),
    name: run.testset,
    judge: run.judge,
    retrieval_only: run.retrieval_only,
    settings: [other, run].map((one) => ({ name: tried(one), settings: one.settings[0].settings })),
  };
}

// Runs are forgotten after a while; a file is not.
export function download(run, result) {
  const button = h("button", { type: "button", class: "quiet" }, "Save the result as JSON");
  button.onclick = () => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(result)], { type: "application/json" }));
    h("a", { href: url, download: `${run.kind}-${run.job}.json` }).click();
    URL.revokeObjectURL(url);
  };
  return h("p", { class: "download" }, button, h("span", { class: "hint" }, " It holds texts of documents: for those who may read them all."));
}
