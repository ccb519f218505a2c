// Files into the collection: dropped or chosen, sent, indexed by a job that is followed to its end.

import { authorization, Problem, problemOf } from "./api.js";
import { byId, h, say } from "./dom.js";
import { cancel as cancelJob, followed, OVER } from "./jobs.js";
import { report } from "./report.js";

const changed = [];

export const whenAdded = (tell) => changed.push(tell);

export function startUpload(me) {
  const dialog = byId("upload-dialog");
  const groups = byId("upload-groups");
  byId("add").hidden = !me.scopes.includes("write");
  if (byId("add").hidden) return;
  byId("add").addEventListener("click", () => dialog.showModal());
  groups.append(...me.groups.map((name) => h("label", { class: "check" }, h("input", { type: "checkbox", value: name, checked: me.groups.length === 1 }), name)));
  byId("files").addEventListener("change", () => {
    send([...byId("files").files]);
    byId("files").value = "";
  });
  takeDrops(dialog);
}

// Anywhere on the page; a browser would show the file in its place.
function takeDrops(dialog) {
  const hint = byId("drop");
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    hint.hidden = dialog.open;
    dialog.classList.add("over");
  });
  const leave = () => {
    hint.hidden = true;
    dialog.classList.remove("over");
  };
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && leave());
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    leave();
    if (!dialog.open) dialog.showModal();
    send([...event.dataTransfer.files]);
  });
}

async function send(files) {
  if (!files.length) return;
  const bar = h("progress", { max: "100", value: "0", "aria-label": "Sending" });
  const says = h("p", { class: "job-says" }, `Sending ${named(files)}`);
  const cancel = h("button", { type: "button", class: "quiet" }, "Cancel");
  const found = h("div", { class: "reports" });
  const job = h("section", { class: "job", "aria-label": named(files) }, h("div", { class: "job-line" }, says, cancel), bar, found);
  byId("upload-jobs").prepend(job);
  try {
    const sent = await posted(form(files), bar, cancel);
    await follow(sent.job, { bar, says, cancel, found });
    for (const tell of changed) tell();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    says.replaceChildren(h("strong", {}, error.message), " ", error.remedy);
    job.classList.add("failed");
    say(`Not added: ${error.message}`);
  } finally {
    bar.remove();
    cancel.remove();
    byId("add-says").textContent = "Add documents";
  }
}

function form(files) {
  const data = new FormData();
  for (const file of files) data.append("files", file);
  for (const box of byId("upload-groups").querySelectorAll("input:checked")) data.append("groups", box.value);
  data.append("replace", String(byId("replace").checked));
  return data;
}

// `fetch` does not tell how much has been sent.
function posted(data, bar, cancel) {
  const request = new XMLHttpRequest();
  cancel.onclick = () => request.abort();
  return new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => (bar.value = (100 * event.loaded) / event.total);
    request.onload = () =>
      request.status === 202
        ? resolve(JSON.parse(request.responseText))
        : reject(problemOf(request.status, request.responseText, request.getResponseHeader("Retry-After")));
    request.onerror = () => reject(new Problem("The service cannot be reached.", "Nothing was added."));
    request.onabort = () => reject(new Problem("Cancelled.", "Nothing was added."));
    request.open("POST", "v1/documents");
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
    request.send(data);
  });
}

async function follow(id, { bar, says, cancel, found }) {
  cancel.onclick = () => {
    cancel.disabled = true;
    cancelJob(id);
  };
  bar.setAttribute("aria-label", "Reading and indexing");
  bar.removeAttribute("value");
  let told = 0;
  for await (const job of followed(id)) {
    const files = job.result?.files ?? [];
    found.append(...files.slice(told).map(report));
    told = files.length;
    if (OVER.includes(job.state)) ended(job, files, says);
    else tell(job, bar, says);
  }
}

function tell(job, bar, says) {
  const { done = 0, total = 0, current = "", embedded = 0 } = job.progress ?? {};
  if (total > 1) [bar.max, bar.value] = [total, done];
  says.textContent = job.state === "queued" ? "Waiting for its turn" : `Reading ${current}${total > 1 ? `, ${done} of ${total} done` : ""}${embedded ? `, ${embedded.toLocaleString("en")} passages so far` : ""}`;
  byId("add-says").textContent = total > 1 ? `Adding ${done}/${total}` : "Adding…";
}

function ended(job, files, says) {
  const bad = files.filter((file) => file.state === "failed" || file.state === "skipped").length;
  const counts = `${files.length - bad} added${bad ? `, ${bad} not` : ""}`;
  says.textContent = { done: counts, cancelled: `Cancelled; ${counts}` }[job.state] ?? `${job.error?.message ?? "It was interrupted."} ${job.error?.remedy ?? ""} ${counts}`;
  say(says.textContent);
}

const named = (files) => (files.length === 1 ? files[0].name : `${files.length} files`);
