// What has gone wrong beside the things that tell it in their own place.

import { Problem } from "./api.js";
import { byId, h } from "./dom.js";

const SHOWN_MS = 10_000;

export function startNotices() {
  addEventListener("unhandledrejection", ({ reason }) => reason instanceof Problem && notice(reason));
}

export function notice({ message, remedy }) {
  byId("notice").replaceChildren(h("strong", {}, message), " ", remedy);
  byId("notice").hidden = false;
  setTimeout(() => (byId("notice").hidden = true), SHOWN_MS);
}
