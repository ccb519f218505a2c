// The bench: test sets put to the index, what came of them, and how settings compare. For admins; `#bench`, `#bench/JOB`.

import { json, Problem } from "./api.js";
import { againView, download } from "./bench_again.js";
import { comparisonView } from "./bench_compared.js";
import { evaluationView } from "./bench_run.js";
import { RunList, RunProgress, STATES, titleOf } from "./bench_runs.js";
import { StartForm } from "./bench_start.js";
import { closeDocument } from "./document.js";
import { byId, h, say } from "./dom.js";
import { followed, OVER } from "./jobs.js";
import { notice } from "./notice.js";

const PLACE = "bench";
let leaving = new AbortController();
let form = null;

export function startBench(me) {
  if (!me.scopes.includes("admin")) {
    if (wanted()) notice(new Problem("The bench is for admins.", "Use a key of that scope."));
    return;
  }
  byId("to-bench").hidden = false;
  addEventListener("hashchange", show);
  document.querySelector(".skip").addEventListener("click", (event) => {
    if (byId("bench").hidden) return;
    event.preventDefault();
    byId("bench-title")?.focus();
  });
  takeDrops(byId("bench"));
  if (wanted()) show();
}

export const benchIsOpen = () => !byId("bench").hidden;

export function toggleBench() {
  if (!byId("to-bench").hidden) location.hash = benchIsOpen() ? "" : PLACE;
}

// At once, so that what is on the other side can take the focus.
export function leaveBench() {
  if (!benchIsOpen()) return;
  history.pushState(null, "", location.pathname + location.search);
  show();
}

const wanted = () => location.hash === `#${PLACE}` || location.hash.startsWith(`#${PLACE}/`);

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  closeDocument();
  arrange(wanted());
  if (!wanted()) return;
  const job = location.hash.slice(PLACE.length + 2);
  try {
    await (job ? runPage(job, signal) : homePage(signal));
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    fill(heading("The bench"), h("p", { class: "failed", role: "alert" }, h("strong", {}, error.message), " ", error.remedy), job ? back() : "");
  }
}

function arrange(open) {
  byId("bench").hidden = !open;
  document.querySelector(".talk").hidden = open;
  document.body.classList.toggle("benching", open);
  byId("to-bench").setAttribute("href", open ? "#" : `#${PLACE}`);
  byId("to-bench-says").textContent = open ? "Ask" : "Bench";
  document.querySelector(".skip").textContent = open ? "Skip to the bench" : "Skip to the question";
  document.title = open ? "Bench · Citewell" : "Citewell";
  form = null;
}

const heading = (title) => h("h2", { id: "bench-title", tabindex: "-1", dir: "auto" }, title);
const back = () => h("p", { class: "back" }, h("a", { class: "quiet", href: `#${PLACE}` }, "All runs"));

function fill(...content) {
  byId("bench").replaceChildren(...content.filter(Boolean));
  byId("bench").scrollTop = 0;
  byId("bench-title").focus({ preventScroll: true });
}

async function homePage(signal) {
  const runs = new RunList(signal);
  const { testsets } = await json("v1/testsets", { signal });
  await runs.refresh();
  if (signal.aborted) return;
  form = new StartForm(testsets, () => {
    say("The run is queued.");
    runs.follow().catch(unlessLeft(signal));
  });
  fill(h("header", {}, heading("The bench."), h("p", { class: "lead" }, "Put a test set to the index: what is found, what is answered rightly, and what is refused. Then try other settings against it.")), form.element, runs.element);
  await runs.follow();
}

const unlessLeft = (signal) => (error) => {
  if (!signal.aborted) throw error;
};

async function runPage(id, signal) {
  const run = await listed(id, signal);
  if (OVER.includes(run.state)) return result(run, signal);
  const progress = new RunProgress(run);
  fill(...head(run), progress.element);
  for await (const job of followed(id, signal)) {
    run.state = job.state;
    progress.tell(job);
  }
  say(`${titleOf(run)}: ${STATES[run.state]}.`);
  return result(run, signal);
}

// A job, and what was asked for, which only the list says.
async function listed(id, signal) {
  const { runs } = await json("v1/evaluations?limit=100", { signal });
  const found = runs.find((run) => run.job === id);
  if (!found) throw new Problem("There is no such run.", "It may be older than those that are listed, or gone with a document that was purged.");
  return { ...found, others: runs };
}

async function result(run, signal) {
  const job = await json(`v1/jobs/${encodeURIComponent(run.job)}`, { signal });
  if (!job.result) return fill(...head(run), ended(job));
  const isOne = run.kind === "evaluation";
  const goTo = (started) => (location.hash = `${PLACE}/${started.job}`);
  return fill(
    ...head(run),
    ...(isOne ? evaluationView(job.result) : comparisonView(job.result)),
    isOne ? againView(run, job.result, run.others, goTo) : download(run, job.result),
  );
}

const head = (run) => [back(), h("header", {}, h("p", { class: "kind" }, run.kind === "comparison" ? `Comparison on ${run.testset}` : "Evaluation"), heading(titleOf(run)))];

function ended({ state, error }) {
  if (error) return h("p", { class: "failed", role: "alert" }, h("strong", {}, error.message), " ", error.remedy);
  return h("p", { class: "lead" }, state === "cancelled" ? "It was cancelled before its end; nothing was kept." : "The service stopped while it ran. Start it again.");
}

// A test set, anywhere on the bench; elsewhere a dropped file is a document.
function takeDrops(bench) {
  for (const kind of ["dragover", "drop"]) {
    bench.addEventListener(kind, (event) => {
      if (!form || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      bench.classList.toggle("over", kind === "dragover");
      if (kind === "drop") form.take(event.dataTransfer.files[0]);
    });
  }
  bench.addEventListener("dragleave", (event) => !bench.contains(event.relatedTarget) && bench.classList.remove("over"));
}
