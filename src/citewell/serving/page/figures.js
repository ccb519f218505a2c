// Figures in words, alike in every part of the bench, and as a report writes them.

import { h } from "./dom.js";

const NONE = "–";

// A share to three places, a time with its unit, a count whole.
export function figure(value, measure = "") {
  if (value === null || value === undefined) return NONE;
  if (measure === "seconds") return `${value.toFixed(3)} s`;
  if (measure === "tokens") return Math.round(value).toLocaleString("en");
  if (measure === "cost_usd") return `$${value.toFixed(4)}`;
  return value.toFixed(3);
}

// A difference: +0.068 or −0.068, and 0.000 for one that is less than can be read.
export function signed(value) {
  const shown = Math.abs(value).toFixed(3);
  return Number(shown) === 0 ? "0.000" : `${value < 0 ? "−" : "+"}${shown}`;
}

export const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

// A mean in its interval, both shares from 0 to 1. What it says stands beside it in words.
export const range = (mean, low, high) => bar("range", [low, high], mean);

// A difference in its interval; the middle is no difference, `reach` what the ends are.
export const rangeAroundZero = (of, reach) =>
  bar("range zero", [of.low, of.high].map((end) => 0.5 + Math.min(Math.max(end / reach, -1), 1) / 2), 0.5 + of.difference / reach / 2);

function bar(kind, [from, to], at) {
  const band = h("i");
  band.style.left = `${100 * from}%`;
  band.style.right = `${100 * (1 - to)}%`;
  const tick = h("b");
  tick.style.left = `${100 * at}%`;
  return h("span", { class: kind, "aria-hidden": "true" }, band, tick);
}

export const moment = (at) =>
  new Date(at).toLocaleString("en-GB", { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" });

export const scrolls = (label, table) => h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": label }, table);
