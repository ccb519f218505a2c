// The page: one who asks, what is read, and its parts put together.

import { json, Problem } from "./api.js";
import { newConversation, startAsking } from "./ask.js";
import { listEarlier } from "./conversation.js";
import { startReader } from "./document.js";
import { byId, h } from "./dom.js";
import { startKey } from "./key.js";
import { startNarrowing, whenNarrowed } from "./narrowing.js";
import { fillShelf } from "./shelf.js";
import { startShortcuts } from "./shortcuts.js";
import { startTheme } from "./theme.js";
import { startUpload, whenAdded } from "./upload.js";

const NOTICE_MS = 10_000;

async function start() {
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
  whenNarrowed(shelf);
  whenAdded(shelf);
  await shelf();
  await listEarlier();
  if (matchMedia("(min-width: 60rem)").matches) byId("question").focus({ preventScroll: true }); // a phone would show its keyboard
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

// What fails beside a question or an upload, which tell it in their own place.
addEventListener("unhandledrejection", ({ reason }) => {
  if (!(reason instanceof Problem)) return;
  byId("notice").replaceChildren(h("strong", {}, reason.message), " ", reason.remedy);
  byId("notice").hidden = false;
  setTimeout(() => (byId("notice").hidden = true), NOTICE_MS);
});

start().catch(told);
