// A document's text as it was read, in its headings, paragraphs and tables, with the sentence marked.

import { h } from "./dom.js";

const AROUND = 12_000; // characters before and after the place

export class TextView {
  // `stretch(start, end)` fetches; `at` is one of them. Places are in characters (code points), as everywhere.
  constructor(stage, stretch, at, says) {
    this._says = says ? h("p", { class: "hint" }, says) : "";
    this._stage = stage;
    this._stretch = stretch;
    this._all = at.characters;
    this.marked = "";
  }

  async open({ start, end }) {
    this._mark = end > start ? { start, end } : { start: 0, end: 0 };
    this._text = h("div", { class: "text", tabindex: "0", role: "region", "aria-label": "The text" });
    this._before = h("button", { type: "button", class: "quiet", onclick: () => this._more(-1) }, "Show what comes before");
    this._after = h("button", { type: "button", class: "quiet", onclick: () => this._more(1) }, "Show what follows");
    this._from = Math.max(this._mark.start - AROUND, 0);
    this._to = Math.min(this._mark.end + AROUND, this._all);
    const shown = this._all ? await this._blocks(this._from, this._to) : [h("p", { class: "hint" }, "There is no text in it.")];
    this._text.append(this._says, this._before, ...shown, this._after);
    this._stage.replaceChildren(this._text);
    this._ends();
    const mark = this._text.querySelector("mark");
    mark?.scrollIntoView({ block: "center" });
    this.marked = mark ? "The sentence is marked." : "";
    return this;
  }

  close() {}

  async _more(way) {
    if (way < 0) {
      const from = Math.max(this._from - AROUND, 0);
      this._before.after(...(await this._blocks(from, this._from)));
      this._from = from;
    } else {
      const to = Math.min(this._to + AROUND, this._all);
      this._after.before(...(await this._blocks(this._to, to)));
      this._to = to;
    }
    this._ends();
  }

  _ends() {
    this._before.hidden = this._from === 0;
    this._after.hidden = this._to >= this._all;
  }

  async _blocks(from, to) {
    return blocks(await this._stretch(from, to), this._mark);
  }
}

function blocks(part, mark) {
  const signs = Array.from(part.text); // code points
  const piece = new Piece(signs, part.start, mark);
  const made = [];
  let at = part.start;
  let pages = part.pages.filter((page) => page.start >= part.start);
  for (const element of part.elements) {
    const [start, end] = [Math.max(element.start, at), Math.min(element.end, part.end)];
    if (end <= start) continue;
    if (piece.text(at, start).trim()) made.push(h("p", { dir: "auto" }, piece.marked(at, start)));
    while (pages.length && pages[0].start <= start) made.push(pageBreak(pages.shift()));
    made.push(block(element, piece, start, end));
    at = end;
  }
  if (piece.text(at, part.end).trim()) made.push(h("p", { dir: "auto" }, piece.marked(at, part.end)));
  return made;
}

const pageBreak = (page) => h("p", { class: "page-break" }, /^\d+$/.test(page.label) ? `Page ${page.label}` : page.label || `Page ${page.number}`);

function block(element, piece, start, end) {
  if (element.kind === "table") return table(element, piece, start, end);
  const tags = { heading: "h3", code: "pre", list: "div", caption: "p", footnote: "p", image: "p", paragraph: "p" };
  const depth = Math.min(element.headings.length, 3);
  const kind = element.kind === "heading" ? `heading depth-${depth}` : element.kind;
  return h(tags[element.kind] ?? "p", { class: kind, dir: element.kind === "code" ? "ltr" : "auto" }, piece.marked(start, end));
}

// A row a line, its cells apart by " | ".
function table(element, piece, start, end) {
  const rows = [];
  let at = start;
  for (const line of piece.text(start, end).split("\n")) {
    const tag = start === element.start && rows.length < element.header_rows ? "th" : "td";
    const cells = line.split(" | ").map((cell) => {
      const from = at;
      at += Array.from(cell).length + 3;
      return h(tag, { dir: "auto" }, piece.marked(from, at - 3));
    });
    at -= 2; // the last cell ends with the line
    rows.push(h("tr", {}, cells));
  }
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", { class: "grid" }, h("tbody", {}, rows)));
}

class Piece {
  constructor(signs, offset, mark) {
    this._signs = signs;
    this._offset = offset;
    this._mark = mark;
  }

  text(start, end) {
    return this._signs.slice(start - this._offset, end - this._offset).join("");
  }

  // The text with what of it is to be marked.
  marked(start, end) {
    const from = Math.min(Math.max(this._mark.start, start), end);
    const to = Math.max(Math.min(this._mark.end, end), from);
    const mark = to > from ? h("mark", {}, this.text(from, to)) : "";
    return [this.text(start, from), mark, this.text(to, end)];
  }
}
