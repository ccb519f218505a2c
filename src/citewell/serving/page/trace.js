// The steps of a search in words.

import { h } from "./dom.js";

const STEPS = {
  dense: "near in meaning",
  keyword: "with words of the question",
  sparse: "with related words",
  code: "with a code that is named",
  fuse: "in all, each counted once",
  maxsim: "compared word by word",
  rerank: "read by the re-ranker",
  gather: "chosen to read",
  web: "found on the web",
  floor: "near enough to answer",
};

export const LEGS = {
  dense: "Meaning",
  keyword: "Words",
  sparse: "Related words",
  code: "Codes",
  maxsim: "Word by word",
  rerank: "Re-ranker",
  web: "Web",
};

// "50 compared word by word", or "" for a step that finds nothing.
export const found = (step) => (step.step in STEPS ? `${step.out.toLocaleString("en")} ${STEPS[step.step]}` : "");

// From everything to what was read, a line for each step.
export function funnel(trace) {
  const steps = trace.filter((step) => step.step in STEPS);
  return h(
    "table",
    { class: "funnel" },
    h("caption", { class: "unseen" }, "How many passages each step found or kept"),
    h("tbody", {}, steps.map((step) => h("tr", {}, h("td", {}, step.out.toLocaleString("en")), h("th", { scope: "row" }, STEPS[step.step])))),
  );
}

export const took = (trace) => {
  const ms = trace.reduce((sum, step) => sum + step.ms, 0);
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
};
