// What each floor would do to the questions of a run, drawn and as a table.

import { h, svg } from "./dom.js";
import { figure, scrolls } from "./figures.js";

const [WIDTH, HEIGHT] = [640, 300];
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 142, 28, 36];
const SHARES = [0, 0.25, 0.5, 0.75, 1];
const ROWS = 12;
const APART = 20; // between two names, so that both can be read

// In the words of a report.
const LINES = [
  { key: "refusal_precision", name: "refusal precision", says: "of the refused, the share without an answer" },
  { key: "refusal_recall", name: "refusal recall", says: "of those without an answer, the share refused" },
  { key: "answered", name: "answered", says: "of the others, the share answered" },
];

// `inForce` is the floor of the index when it was asked, null where there was none.
export function floorCurve(curve, inForce) {
  const best = `${curve.best.toFixed(2)} is best${curve.separates ? "" : ", and no better than none"}`;
  const now = inForce === null ? "" : `, in force was ${inForce.toFixed(2)}`;
  return h(
    "figure",
    { class: "curve" },
    h("figcaption", {}, h("strong", {}, `${best}${now}.`), " ", LINES.map((line) => `${line.name}: ${line.says}`).join("; "), "."),
    drawn(curve, inForce, `${best}${now}`),
    h("details", { class: "more" }, h("summary", {}, "The curve as a table"), table(curve)),
  );
}

function drawn({ points, best }, inForce, says) {
  const floors = [...points.map((point) => point.floor), best, ...(inForce === null ? [] : [inForce])];
  const [least, most] = [Math.min(...floors), Math.max(...floors)];
  const x = (floor) => LEFT + ((floor - least) / (most - least || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const rule = (floor, kind, name, isRight) => [
    svg("line", { class: kind, x1: x(floor), x2: x(floor), y1: TOP - 8, y2: HEIGHT - BOTTOM }),
    svg("text", { class: "tick", x: x(floor) + (isRight ? 5 : -5), y: TOP - 10, "text-anchor": isRight ? "start" : "end" }, name),
  ];
  return svg(
    "svg",
    { class: "drawing", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-labelledby": "curve-title curve-says" },
    svg("title", { id: "curve-title" }, "What each floor would do"),
    svg("desc", { id: "curve-says" }, `Shares from 0 to 1 over floors from ${least.toFixed(2)} to ${most.toFixed(2)}. ${says}. The figures are in the table below.`),
    SHARES.map((share) => [
      svg("line", { class: "grid-line", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) }),
      svg("text", { class: "tick", x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, String(share)),
    ]),
    ticks(least, most).map((floor) => svg("text", { class: "tick", x: x(floor), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, floor.toFixed(1))),
    svg("text", { class: "tick", x: WIDTH - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, "floor"),
    inForce === null ? "" : rule(inForce, "in-force", `in force ${inForce.toFixed(2)}`, inForce >= best),
    rule(best, "best", `best ${best.toFixed(2)}`, inForce !== null && inForce < best),
    lines(points, x, y),
  );
}

// Each ends with its name, in its colour and its kind of line.
function lines(points, x, y) {
  const drawnOnes = LINES.map(({ key, name }) => {
    const known = points.filter((point) => point[key] !== null);
    return { key, name, at: known.map((point) => [x(point.floor), y(point[key])]) };
  }).filter((line) => line.at.length);
  const names = drawnOnes.map((line) => ({ ...line, height: line.at.at(-1)[1] })).sort((a, b) => a.height - b.height);
  names.forEach((line, at) => (line.height = Math.max(line.height, at ? names[at - 1].height + APART : 0)));
  const over = (names.at(-1)?.height ?? 0) - (HEIGHT - BOTTOM);
  if (over > 0) for (const line of names) line.height -= over;
  return names.map(({ key, name, at, height }) => [
    svg("polyline", { class: `line ${key}`, points: at.map((place) => place.map((one) => one.toFixed(1)).join(",")).join(" ") }),
    svg("text", { class: `name ${key}`, x: WIDTH - RIGHT + 8, y: height + 4 }, name),
  ]);
}

function ticks(least, most) {
  const step = most - least > 0.55 ? 0.2 : 0.1;
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.max(Math.floor(most / step) - first + 1, 0) }, (_, at) => (first + at) * step);
}

function table({ points, best }) {
  const last = points.length - 1;
  const chosen = new Set(Array.from({ length: ROWS }, (_, at) => points[Math.round((last * at) / (ROWS - 1))]));
  const rows = points.filter((point) => chosen.has(point) || point.floor === best);
  const number = (text, tag = "td") => h(tag, { class: "n", ...(tag === "th" ? { scope: "col" } : {}) }, text);
  return scrolls(
    "What each floor would do",
    h(
      "table",
      { class: "grid" },
      h("thead", {}, h("tr", {}, number("floor", "th"), LINES.map((line) => number(line.name, "th")), h("td", {}))),
      h("tbody", {}, rows.map((point) => h("tr", {}, number(figure(point.floor)), LINES.map((line) => number(figure(point[line.key]))), h("td", {}, point.floor === best ? "best" : "")))),
    ),
  );
}
