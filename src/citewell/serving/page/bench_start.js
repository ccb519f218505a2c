// The form that starts a run: a test set, perhaps other settings, perhaps compared with those of the service.

import { json, Problem } from "./api.js";
import { h } from "./dom.js";
import { counted } from "./figures.js";
import { named, overridesOf } from "./overrides.js";
import { nameOf, questionsOf } from "./testset.js";

// `whenStarted` is called with the job.
export class StartForm {
  constructor(testsets, whenStarted) {
    this._whenStarted = whenStarted;
    this._dropped = null;
    this._named = h("select", { id: "testset" }, h("option", { value: "" }, "Choose one…"), testsets.map((name) => h("option", { value: name }, name)));
    this._file = h("input", { type: "file", id: "testset-file", accept: ".jsonl,.json,.ndjson", onchange: () => this.take(this._file.files[0]) });
    this._fileSays = h("span", { class: "dropzone-says" }, h("strong", {}, "Drop a test set here"), " or choose a file");
    this._settings = h("textarea", { id: "tried", rows: "2", spellcheck: "false", autocomplete: "off", placeholder: "retrieval.keep = 3", "aria-describedby": "tried-says" });
    this._compare = h("input", { type: "checkbox" });
    this._retrievalOnly = h("input", { type: "checkbox" });
    this._failed = h("p", { class: "failed", role: "alert", hidden: true });
    this._button = h("button", { type: "submit", class: "primary" }, "Start");
    this.element = this._form(testsets.length > 0);
    this._named.addEventListener("change", () => this._named.value && this._forget());
  }

  // A file that was dropped or chosen.
  async take(file) {
    if (!file) return;
    await this._told(async () => {
      this._dropped = { questions: await questionsOf(file), name: nameOf(file) };
      this._named.value = "";
      this._fileSays.replaceChildren(h("strong", {}, this._dropped.name), ` ${counted(this._dropped.questions.length, "question")}`);
    });
    this._file.value = "";
  }

  _forget() {
    this._dropped = null;
    this._fileSays.replaceChildren(h("strong", {}, "Drop a test set here"), " or choose a file");
  }

  _form(hasNamed) {
    const compare = h("label", { class: "check", hidden: true }, this._compare, " Compare them with the service as it is");
    this._settings.addEventListener("input", () => (compare.hidden = !this._settings.value.trim()));
    const onSubmit = (event) => {
      event.preventDefault();
      this._start();
    };
    return h(
      "form",
      { class: "start", "aria-labelledby": "start-title", onsubmit: onSubmit },
      h("h3", { id: "start-title" }, "A new run"),
      h(
        "div",
        { class: "start-parts" },
        h(
          "div",
          {},
          hasNamed ? [h("label", { for: "testset" }, "Test set of the service"), this._named] : "",
          h("label", { class: "dropzone", for: "testset-file" }, this._fileSays, h("span", { class: "hint" }, "JSONL: a question a line"), this._file),
          hasNamed ? "" : h("p", { class: "hint" }, "Those in ", h("code", {}, "testsets"), " of the service’s folder can be chosen by their names."),
        ),
        h(
          "div",
          {},
          h("label", { for: "tried" }, "Settings to try"),
          this._settings,
          h("p", { class: "hint", id: "tried-says" }, "One a line, over those of the service. Without any: as it is."),
          compare,
          h("label", { class: "check" }, this._retrievalOnly, " Only what is found, without answers"),
        ),
      ),
      this._failed,
      h("p", { class: "actions" }, this._button),
    );
  }

  async _start() {
    this._button.disabled = true;
    await this._told(async () => {
      const job = await json(...this._request());
      this._whenStarted(job);
    });
    this._button.disabled = false;
  }

  _request() {
    if (!this._dropped && !this._named.value) throw new Problem("There is no test set yet.", "Choose one, or drop a file.");
    const settings = overridesOf(this._settings.value);
    const body = { ...(this._dropped ?? { testset: this._named.value }), retrieval_only: this._retrievalOnly.checked };
    if (!this._compare.checked || !Object.keys(settings).length) return ["v1/evaluations", { method: "POST", body: { ...body, settings } }];
    const tried = [{ name: named({}) }, { name: named(settings), settings }];
    return ["v1/comparisons", { method: "POST", body: { ...body, settings: tried } }];
  }

  async _told(act) {
    this._failed.hidden = true;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this._failed.replaceChildren(h("strong", {}, error.message), " ", error.remedy);
      this._failed.hidden = false;
    }
  }
}
