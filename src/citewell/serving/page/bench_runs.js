// The runs that there are, the newest first; those under way with how far they are.

import { json, query } from "./api.js";
import { h, say } from "./dom.js";
import { counted, figure, moment, range } from "./figures.js";
import { cancel, OVER, unlessBusy } from "./jobs.js";
import { named } from "./overrides.js";

const LISTED = 20;
const LOOK_MS = 800;
const SHOWN = ["correct", "recall@5", "refusal recall"];
const UNSEEN = ["seconds"];

export class RunList {
  constructor(signal) {
    this._signal = signal;
    this._limit = LISTED;
    this._rows = new Map();
    this._list = h("ul", { class: "runs" });
    this._more = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this._showMore() }, "Show more");
    this._none = h("p", { class: "hint", hidden: true }, "There is none yet. Put a test set to the index above: a JSON object a line, each a question with what a right answer holds and where it stands.");
    this.element = h("section", { "aria-labelledby": "runs-title" }, h("h3", { id: "runs-title" }, "Runs"), this._none, this._list, this._more);
  }

  // Until it is left. What is under way is looked at again and again.
  async follow() {
    while (!this._signal.aborted) {
      if (await this.refresh()) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  // Whether all of them are over.
  async refresh() {
    const found = await unlessBusy(() => json(`v1/evaluations${query({ limit: this._limit })}`, { signal: this._signal }));
    if (!found) return false;
    this._none.hidden = found.total > 0;
    this._more.hidden = found.total <= found.runs.length || this._limit >= 100;
    const there = new Map(found.runs.map((run) => [run.job, this._row(run)]));
    for (const [job, row] of this._rows) if (!there.has(job)) row.element.remove();
    this._rows = there;
    found.runs.forEach((run, at) => {
      const { element } = there.get(run.job);
      if (this._list.children[at] !== element) this._list.insertBefore(element, this._list.children[at] ?? null);
    });
    return found.runs.every((run) => OVER.includes(run.state));
  }

  async _showMore() {
    this._limit = 100;
    await this.refresh();
  }

  // The one that is there, brought up to date: who has put the focus in it keeps it.
  _row(run) {
    const before = this._rows.get(run.job);
    if (before?.run.state === run.state && before.run.cancelling === run.cancelling) {
      before.progress?.tell(run);
      return { ...before, run };
    }
    if (before && OVER.includes(run.state)) say(`${titleOf(run)}: ${STATES[run.state]}.`);
    const progress = OVER.includes(run.state) ? null : new RunProgress(run);
    const element = h("li", { class: "run" }, link(run), progress?.element ?? outcome(run));
    before?.element.replaceWith(element);
    return { run, element, progress };
  }
}

// How far one is, and the way to stop it.
export class RunProgress {
  constructor(run) {
    this._bar = h("progress", { "aria-label": `Progress of ${titleOf(run)}` });
    this._says = h("span", {});
    this._cancel = h("button", { type: "button", class: "quiet", disabled: run.cancelling, onclick: () => this._stop(run.job) }, "Cancel");
    this.element = h("div", { class: "run-progress" }, h("p", { class: "job-line" }, this._says, this._cancel), this._bar);
    this.tell(run);
  }

  tell({ state, cancelling, progress }) {
    const { done = 0, total = 0, current = "" } = progress ?? {};
    if (total) [this._bar.max, this._bar.value] = [total, done];
    const at = total ? `${done.toLocaleString("en")} of ${counted(total, "question")} asked` : "Begins";
    this._says.textContent = cancelling ? "Stops after this question" : state === "queued" ? "Waits for its turn" : [at, current === "service" ? "" : current].filter(Boolean).join(", ");
  }

  async _stop(job) {
    this._cancel.disabled = true;
    await cancel(job);
  }
}

export const STATES = { queued: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled", interrupted: "interrupted" };

export function titleOf(run) {
  const [first, ...others] = run.settings.map((one) => (run.kind === "comparison" ? one.name : named(one.settings)));
  return run.kind === "comparison" ? `${others.map(quoted).join(", ")} against ${quoted(first)}` : run.testset;
}

const quoted = (name) => `“${name}”`;

const about = (run) =>
  run.kind === "comparison"
    ? `Comparison on ${run.testset}`
    : `Evaluation, ${named(run.settings[0].settings)}${run.retrieval_only ? ", without answers" : ""}`;

function link(run) {
  return h(
    "a",
    { class: "run-link", href: `#bench/${run.job}` },
    h("span", { class: "book-title", dir: "auto" }, titleOf(run)),
    h("span", { class: "book-facts", dir: "auto" }, about(run)),
    h("span", { class: "book-facts" }, `${moment(run.created)}, ${run.caller.replace(/^key:/, "")}`),
  );
}

function outcome(run) {
  if (run.state === "failed") return h("p", { class: "run-says failed" }, h("strong", {}, "Failed."), " ", run.error?.message ?? "");
  if (run.state === "cancelled" || run.state === "interrupted") return h("p", { class: "run-says hint" }, run.state === "cancelled" ? "Cancelled" : "Interrupted: the service stopped");
  if (run.kind === "comparison") return h("ul", { class: "run-says" }, run.verdicts.map(({ verdict }) => h("li", {}, verdictMark(verdict))));
  const first = run.figures.filter((one) => SHOWN.includes(one.measure));
  const shown = (first.length ? first : run.figures.filter((one) => !UNSEEN.includes(one.measure))).slice(0, SHOWN.length);
  return h("dl", { class: "run-figures" }, shown.map(({ measure, mean, low, high }) => h("div", {}, h("dt", {}, measure), h("dd", {}, figure(mean), h("span", { class: "unseen" }, `, ${figure(low)} to ${figure(high)}`), range(mean, low, high)))));
}

// A verdict is its word; the sign and the colour only help.
const SIGNS = { keep: "↑", drop: "↓", "no difference": "=", "not enough questions": "?" };

export const verdictMark = (verdict) =>
  h("span", { class: `verdict ${verdict.replaceAll(" ", "-")}` }, h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[verdict] ?? "·"), verdict);
