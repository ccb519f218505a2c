// The prompt for a key, when the service wants one.

import { key, whenKeyIsNeeded } from "./api.js";
import { byId } from "./dom.js";

let asking = null;

export function startKey() {
  whenKeyIsNeeded((problem) => (asking ??= ask(problem).finally(() => (asking = null))));
  byId("forget").addEventListener("click", () => {
    key.forget();
    location.reload();
  });
  byId("forget").hidden = !key.get();
}

function ask(problem) {
  const dialog = byId("key-dialog");
  const field = byId("key");
  if (key.get()) byId("key-says").textContent = `${problem.message} ${problem.remedy}`;
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.querySelector("form").onsubmit = () => {
      key.set(field.value.trim());
      byId("forget").hidden = false;
      dialog.returnValue = "given";
    };
    dialog.onclose = () => resolve(dialog.returnValue === "given");
  });
}
