// Settings over those of the service, as lines of a settings file: `retrieval.keep = 3`.

import { Problem } from "./api.js";

const AS_IT_IS = "as it is";
const LONGEST = 200; // of a name

// As a request takes them. A line that is none is told with its number.
export function overridesOf(text) {
  const made = Object.create(null); // "__proto__" is a name like any
  text.split("\n").forEach((line, at) => {
    if (!line.trim() || line.trim().startsWith("#")) return;
    const parts = /^\s*(\w+)\.(\w+(?:\.\w+)*)\s*=\s*(.+?)\s*$/.exec(line);
    if (!parts) throw new Problem(`Line ${at + 1} is no setting.`, "Write its table, its name and its value, as in retrieval.keep = 3.");
    put(made, [parts[1], ...parts[2].split(".")], valueOf(parts[3], at + 1));
  });
  return made;
}

// In one line.
export const named = (overrides) => linesOf(overrides).join(", ").slice(0, LONGEST) || AS_IT_IS;

const linesOf = (tables, before = "") =>
  Object.entries(tables).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? linesOf(value, `${before}${name}.`) : [`${before}${name} = ${JSON.stringify(value)}`],
  );

function put(made, path, value) {
  const last = path.pop();
  const table = path.reduce((inner, name) => (inner[name] ??= Object.create(null)), made);
  table[last] = value;
}

function valueOf(text, line) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(`Line ${line}: ${text} is no value.`, 'Write a number, true or false, or a text in quotes, as in "off".');
  }
}
