// The page: one who asks, what is read, and its parts put together.

import { json, Problem } from "./api.js";
import { benchIsOpen, startBench } from "./bench.js";
import { newConversation, startAsking } from "./ask.js";
import { listEarlier } from "./conversation.js";
import { startReader } from "./document.js";
import { byId, h } from "./dom.js";
import { startKey } from "./key.js";
import { startNarrowing, whenNarrowed } from "./narrowing.js";
import { startNotices } from "./notice.js";
import { fillShelf } from "./shelf.js";
import { startShortcuts } from "./shortcuts.js";
import { startTheme } from "./theme.js";
import { startUpload, whenAdded } from "./upload.js";

async function start() {
  startNotices();
  startTheme(byId("theme"));
  startKey();
  startReader();
  startShortcuts();
  startAsking();
  byId("new").addEventListener("click", newConversation);
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
  const me = await json("v1/me");
  startNarrowing(me);
  startUpload(me);
  startBench(me);
  whenNarrowed(shelf);
  whenAdded(shelf);
  await shelf();
  await listEarlier();
  if (matchMedia("(min-width: 60rem)").matches && !benchIsOpen()) byId("question").focus({ preventScroll: true }); // a phone would show its keyboard
}

async function shelf() {
  try {
    await fillShelf();
  } catch (error) {
    told(error);
  }
}

function told(error) {
  if (!(error instanceof Problem)) throw error;
  byId("shelf").replaceChildren(h("p", { class: "failed", role: "alert" }, h("strong", {}, error.message), " ", error.remedy));
}

start().catch(told);
