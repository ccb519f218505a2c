// Elements from plain values. A child that is not an element becomes text: nothing of a document is ever markup.

export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

// The same of a drawing.
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export const byId = (id) => document.getElementById(id);

// A line drawing of 20 by 20.
export const icon = (path) => svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: path }));

export const CROSS = "m5 5 10 10M15 5 5 15";
export const LEFT = "m12 5-5 5 5 5";
export const RIGHT = "m8 5 5 5-5 5";

// Said by a screen reader when it is next silent.
export function say(text) {
  byId("said").textContent = text;
}
